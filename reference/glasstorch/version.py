"""Which version of PyTorch is this, and which of glasstorch?

    >>> import glasstorch as torch
    >>> torch.__version__ >= "2.0"
    True

`__version__` is that of the PyTorch whose names and semantics these are, and after the plus sign, where PyTorch says
how it was built, that of glasstorch. The distribution is called by the latter alone, which is `glasstorch` here.

Mirrors: torch/version.py
Differs: `glasstorch`; `cuda` is the version of the CUDA compiler that is in use, found when it is asked for.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["__version__", "debug", "cuda", "git_version", "hip", "rocm", "xpu"]  # noqa: F822  (`cuda` is below)

glasstorch: Final = "0.1.0"
__version__: Final = f"2.13.0+glasstorch.{glasstorch}"
debug: Final = False
git_version: Final = "Unknown"  # as PyTorch says of a build that was not made from a repository
hip: Final[str | None] = None
rocm: Final[str | None] = None
xpu: Final[str | None] = None

_refuse = refuse_unknown_names(__name__)


def __getattr__(name: str) -> Any:
    return _cuda() if name == "cuda" else _refuse(name)


def _cuda() -> str | None:
    """The version of the compiler of CUDA kernels, such as "12.8"; None without a GPU, and for the simulator."""
    from glasstorch.devices import runtime

    if not runtime.is_available() or runtime.driver().simulated:
        return None
    from glasstorch.devices import nvrtc

    return "{}.{}".format(*nvrtc.version())
