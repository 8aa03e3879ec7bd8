"""Which names has torch.cuda.nvtx?

Mirrors: torch/cuda/nvtx.py
Differs: no NVTX library is bound, and each function says so; see profiler/ranges.py.
"""

from glasstorch.profiler.ranges import NVTX as _NVTX
from glasstorch.profiler.ranges import refused as _refused
from glasstorch.profiler.ranges import refused_range as _refused_range

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

range_push = _refused(_NVTX)
range_pop = _refused(_NVTX)
range_start = _refused(_NVTX)
range_end = _refused(_NVTX)
mark = _refused(_NVTX)
range = _refused_range(_NVTX)
