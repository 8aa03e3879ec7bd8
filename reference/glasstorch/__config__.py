"""What is the library made of, as `torch.__config__.show()` prints it?

Mirrors: torch/__config__.py, aten/src/ATen/Version.cpp, aten/src/ATen/ParallelCommon.cpp
Differs: nothing was compiled when the library was made. What it computes with is told in place of build settings.
"""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

import numpy as np

from glasstorch._settings import get_num_interop_threads
from glasstorch.core.parallel import get_num_threads
from glasstorch.devices import runtime
from glasstorch.version import __version__, glasstorch

__all__ = ["parallel_info", "show"]


def show() -> str:
    """A description of the library and what it computes with, one fact a line."""
    lines = [
        f"glasstorch {glasstorch}, with the names of PyTorch {__version__.partition('+')[0]}",
        f"Python {platform.python_version()} ({sys.implementation.name}), {platform.platform()}",
        f"NumPy {np.__version__}, whose BLAS is {_blas()}",
        f"CUDA {_cuda()}",
        f"Settings: {', '.join(f'{name}={os.environ[name]}' for name in _variables()) or 'none'}",
    ]
    return "glasstorch runs on:\n" + "".join(f"  - {line}\n" for line in lines)


def parallel_info() -> str:
    """How many threads share a loop, and what says so."""
    named = {name: os.environ.get(name, "[not set]") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return (
        f"torch.get_num_threads() : {get_num_threads()}\n"
        f"torch.get_num_interop_threads() : {get_num_interop_threads()}\n"
        f"os.cpu_count() : {os.cpu_count()}\n"
        "Environment variables:\n"
        + "".join(f"\t{name} : {value}\n" for name, value in named.items())
        + "Parallel backend: Python's threads\n"
    )


def _blas() -> str:
    """The library that NumPy multiplies matrices with."""
    config: Any = np.show_config(mode="dicts")
    blas = config["Build Dependencies"]["blas"]
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _cuda() -> str:
    if not runtime.is_available():
        return "is not used: there is no GPU, or CuPy is not installed"
    properties = runtime.driver().properties(0)
    return f"on {runtime.device_count()} x {properties.name}"


def _variables() -> list[str]:
    """The environment variables that change what the library does and are set."""
    return sorted(name for name in os.environ if name.startswith("GLASSTORCH_"))
