"""What does a program find at torch.utils.cpp_extension?

Mirrors: torch/utils/cpp_extension.py
Differs: it can be imported; extensions, which are compiled against PyTorch's C++ headers, are refused. A CUDA kernel
    of a program's own is compiled by `torch.cuda._compile_kernel`.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["CUDA_HOME", "BuildExtension", "CUDAExtension", "CppExtension", "load", "load_inline"]

CUDA_HOME = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")


def _refused(asked: str) -> NoReturn:
    raise RuntimeError(
        f"torch.utils.cpp_extension.{asked}: an extension needs PyTorch's C++ library, which glasstorch does not have; "
        "write the operator in Python (torch.library), or its kernel in CUDA C++ (torch.cuda._compile_kernel)"
    )


def load(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: there are no headers to compile against."""
    _refused("load")


def load_inline(name: str, cpp_sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: there are no headers to compile against."""
    _refused("load_inline")


def CppExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: there are no headers to compile against."""
    _refused("CppExtension")


def CUDAExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: there are no headers to compile against."""
    _refused("CUDAExtension")


class BuildExtension:
    """A command of setuptools that builds extensions: refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refused("BuildExtension")


__getattr__ = refuse_unknown_names(__name__)
