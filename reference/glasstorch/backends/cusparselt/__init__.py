"""Is NVIDIA's cuSPARSELt used?

Mirrors: torch/backends/cusparselt/__init__.py
Differs: it is not.
"""

from __future__ import annotations

__all__ = ["get_max_alg_id", "is_available", "version"]


def version() -> int | None:
    """The version of cuSPARSELt: None, because it is not used."""
    return None


def is_available() -> bool:
    """Whether cuSPARSELt is used: no."""
    return False


def get_max_alg_id() -> int | None:
    """The number of its algorithms: None, because it is not used."""
    return None
