"""Which names has torch.cuda.nvtx?

Mirrors: torch/cuda/nvtx.py
Differs: no NVTX library is bound, and each function says so; see profiler/ranges.py.
"""

from collections.abc import Iterator as _Iterator
from contextlib import contextmanager as _contextmanager
from typing import Any as _Any

from glasstorch.profiler.ranges import NVTX as _NVTX
from glasstorch.profiler.ranges import refused as _refused

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

range_push = _refused(_NVTX)
range_pop = _refused(_NVTX)
range_start = _refused(_NVTX)
range_end = _refused(_NVTX)
mark = _refused(_NVTX)


@_contextmanager
def range(msg: str, *args: _Any, **kwargs: _Any) -> _Iterator[None]:
    """Refused: see `range_push`."""
    range_push(msg.format(*args, **kwargs))
    yield
