"""How is a small tensor copied fast?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (clone), whose memory the C library allocates too
"""

from __future__ import annotations

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import LARGE
from glasstorch.core.layout import memory_format
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.copies import strides_of_copy
from glasstorch.kernels.cpu import copies


@fast("clone", copies.clone, when="the copy is row-major and small", benchmark="1e6: clone of 1,000 rows", exact="bits")
def clone(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:  # hot path: benchmarks/eager.py
    """NumPy's copy, in memory that the C library allocates."""
    if strides_of_copy(self, memory_format) is None:
        array = self.array()
        if array.nbytes < LARGE:
            return wrap(array.copy(), self.dtype)
    return copies.clone.plain(keys, self, memory_format)
