"""Are loops shared among threads by OpenMP?

Mirrors: torch/backends/openmp/__init__.py
Differs: they are not; threads are Python's (core/parallel.py).
"""

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether OpenMP is used: no."""
    return False
