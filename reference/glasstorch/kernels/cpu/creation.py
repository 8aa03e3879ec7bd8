"""How are new tensors created on the CPU?

Mirrors: aten/src/ATen/EmptyTensor.cpp (empty_cpu), aten/src/ATen/native/RangeFactories.cpp
Differs: NumPy's `arange` produces the numbers.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import MOST, check_countable
from glasstorch.core.device import CPU as HERE
from glasstorch.core.device import device
from glasstorch.core.dtype import HALF_PRECISION, Number, dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.creation.factories import register_empty
from glasstorch.kernels.creation.ranges import register_arange, whole
from glasstorch.kernels.structured import check_writable
from glasstorch.operators.composite.creation import real

CPU = KernelTable("CPU")


def made(start: Number, step: Number, length: int, dtype: dtype, device: device, pin_memory: bool | None) -> Tensor:
    """A vector of the numbers."""
    result = wrap(counted(start, step, length, dtype), dtype)
    return result.pin_memory() if pin_memory else result


def fill(out: Tensor, start: Number, step: Number) -> None:
    """Write the numbers in row-major order."""
    check_writable(out, ())
    out.array()[...] = counted(start, step, out.numel(), out.dtype).reshape(out._shape)


def counted(start: Number, step: Number, length: int, dtype: dtype) -> Array:
    """`start + step * i` for i = 0, 1, 2 ... Floats are computed in float64 and rounded once."""
    if length * 8 > MOST:
        check_countable((length,), 8)
    kind, number = (np.float64, real) if dtype.is_floating_point else (np.int64, whole)
    numbers: Array = np.arange(length, dtype=kind)
    first, pace = number(start), number(step)
    if pace != 1:
        numbers *= pace
    if first or pace < 0:  # then the first one is -0.0, to which adding 0.0 gives 0.0
        numbers += first
    if dtype in HALF_PRECISION:
        numbers = numbers.astype(np.float32)
    return numbers.astype(dtype.numpy, copy=False)


register_empty(CPU, HERE)
register_arange(CPU, made, fill)
