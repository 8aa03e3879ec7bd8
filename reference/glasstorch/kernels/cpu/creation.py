"""How are new tensors created on the CPU?

Mirrors: aten/src/ATen/EmptyTensor.cpp (empty_cpu), aten/src/ATen/native/RangeFactories.cpp
Differs: NumPy's `arange` produces the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch._tensor import empty as uninitialised
from glasstorch.core.allocator import MOST, check_countable
from glasstorch.core.device import CPU as HERE
from glasstorch.core.device import device
from glasstorch.core.dtype import HALF_PRECISION, Number, dtype, get_default_dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.creation.factories import new_empty, new_empty_strided
from glasstorch.kernels.creation.ranges import arange_dtype, arange_length, resize_range, whole
from glasstorch.kernels.structured import check_writable
from glasstorch.operators.composite.creation import real

CPU = KernelTable("CPU")


@CPU.impl("empty.memory_format")
def empty(
    keys: int,
    size: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:  # hot path: benchmarks/eager.py
    """Uninitialised memory."""
    shape = tuple(size)
    if pin_memory or memory_format is not None or (shape and min(shape) < 0):
        return new_empty(HERE, shape, dtype, pin_memory, memory_format)
    return uninitialised(shape, get_default_dtype() if dtype is None else dtype)


@CPU.impl("empty_strided")
def empty_strided(
    keys: int,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """Uninitialised memory, just enough for the strides."""
    return new_empty_strided(HERE, size, stride, dtype, pin_memory)


@CPU.impl("arange.start_step")
def arange(
    keys: int,
    start: Number,
    end: Number,
    step: Number,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """`start + step * i` for i = 0, 1, 2 ..."""
    dtype = arange_dtype(start, end, step, dtype)
    result = wrap(counted(start, step, arange_length(start, end, step, dtype), dtype), dtype)
    return result.pin_memory() if pin_memory else result


@CPU.impl("arange.start_out")
def arange_out(keys: int, start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    """As `arange`, written to `out`, whose dtype decides."""
    length = arange_length(start, end, step, out.dtype)
    resize_range(out, length)
    check_writable(out, ())
    out.array()[...] = counted(start, step, length, out.dtype).reshape(out._shape)
    return out


def counted(start: Number, step: Number, length: int, dtype: dtype) -> Array:
    """The numbers themselves. Floats are computed in float64 and rounded once."""
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
