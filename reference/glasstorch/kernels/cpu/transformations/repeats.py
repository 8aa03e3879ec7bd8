"""How is repeat_interleave computed on the CPU?

Mirrors: aten/src/ATen/native/Repeat.cpp (repeat_interleave_cpu)
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import int32, int64
from glasstorch.core.errors import ArgumentError, ShapeError, not_implemented_for
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import finish

CPU = KernelTable("CPU")


@CPU.impl("repeat_interleave.Tensor")
def repeat_interleave(keys: int, repeats: Tensor, output_size: int | None) -> Tensor:
    """Each index, repeated as many times as its element says."""
    if repeats.dtype not in (int32, int64):
        raise not_implemented_for("repeat_interleave_cpu", repeats.dtype)
    array = repeats.array()
    if array.ndim != 1:
        raise ShapeError("repeat_interleave only accept 1D vector as repeat")
    if (array < 0).any():
        raise ArgumentError("repeats can not be negative")
    if output_size is not None and output_size != array.sum():
        raise ArgumentError("allocated size does not match required size")
    return finish(np.repeat(np.arange(array.size), array), repeats.dtype, None)
