"""Is there a GPU of Apple's?

Mirrors: torch/backends/mps/__init__.py
Differs: this library does not use it, on any computer.
"""

from __future__ import annotations

import platform

__all__ = ["get_core_count", "get_name", "is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_built() -> bool:
    """Whether the library can use Metal: no."""
    return False


def is_available() -> bool:
    """Whether there is a device "mps": no."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether this is a Mac with at least this version of its system."""
    version = tuple(int(part) for part in platform.mac_ver()[0].split(".") if part)
    return version >= (major, minor)


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Whether this is a Mac with at least version 13.`minor` of its system."""
    return is_macos_or_newer(13, minor)


def get_name() -> str:
    """The name of the GPU; RuntimeError, because none is used."""
    raise RuntimeError("get_name: glasstorch does not use Metal; torch.backends.mps.is_available() is False")


def get_core_count() -> int:
    """The number of the GPU's cores; RuntimeError, because none is used."""
    raise RuntimeError("get_core_count: glasstorch does not use Metal; torch.backends.mps.is_available() is False")
