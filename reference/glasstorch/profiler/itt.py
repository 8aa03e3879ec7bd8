"""Which names has torch.profiler.itt?

Mirrors: torch/profiler/itt.py
Differs: no library of Intel's is bound: `is_available()` is False, and the others say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch.profiler.ranges import ITT, refused

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]

range_push = refused(ITT)
range_pop = refused(ITT)
mark = refused(ITT)


def is_available() -> bool:
    """Whether a library of Intel's takes ranges: never."""
    return False


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Refused: see `range_push`."""
    range_push(msg.format(*args, **kwargs))
    yield
