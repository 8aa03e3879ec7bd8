"""How many threads may share a loop?

Mirrors: aten/src/ATen/Parallel.h, ParallelNative.cpp (get_num_threads, set_num_threads)
Differs: it covers the library's own loops only. NumPy's BLAS has threads of its own, as many as OPENBLAS_NUM_THREADS
    or OMP_NUM_THREADS says when it is loaded.
"""

from __future__ import annotations

import os

from glasstorch.core.errors import ArgumentError

_chosen: int | None = None


def get_num_threads() -> int:
    """How many threads may share a loop: the number set, else OMP_NUM_THREADS, else one for each processor."""
    if _chosen is not None:
        return _chosen
    named = os.environ.get("OMP_NUM_THREADS", "")
    return int(named) if named.isdecimal() and int(named) else os.cpu_count() or 1


def set_num_threads(number: int, /) -> None:
    """Set how many threads may share a loop, in the whole process. ArgumentError for anything but a positive int."""
    global _chosen
    if type(number) is not int:
        raise ArgumentError(f"set_num_threads expects an int, but got {type(number).__name__}")
    if number < 1:
        raise ArgumentError(f"set_num_threads expects a positive integer, but got {number}")
    _chosen = number
