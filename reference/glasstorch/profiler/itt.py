"""Which names has torch.profiler.itt?

Mirrors: torch/profiler/itt.py
Differs: no library of Intel's is bound: `is_available()` is False, and the others say so.
"""

from __future__ import annotations

from glasstorch.profiler.ranges import ITT, refused, refused_range

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]

range_push = refused(ITT)
range_pop = refused(ITT)
mark = refused(ITT)
range = refused_range(ITT)


def is_available() -> bool:
    """Whether a library of Intel's takes ranges: never."""
    return False
