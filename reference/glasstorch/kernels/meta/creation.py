"""How are meta tensors created?

Mirrors: aten/src/ATen/EmptyTensor.cpp (empty_meta), torch/_meta_registrations.py
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch._tensor import empty as uninitialised
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.creation.factories import new_empty, new_empty_strided
from glasstorch.kernels.creation.ranges import arange_dtype, arange_length, resize_range

META = KernelTable("Meta")


@META.impl("empty.memory_format")
def empty(
    keys: int,
    size: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:
    """A meta tensor of these sizes."""
    return new_empty(NOWHERE, size, dtype, pin_memory, memory_format)


@META.impl("empty_strided")
def empty_strided(
    keys: int,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A meta tensor of these sizes and strides."""
    return new_empty_strided(NOWHERE, size, stride, dtype, pin_memory)


@META.impl("arange.start_step")
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
    """A vector with the length of the range."""
    dtype = arange_dtype(start, end, step, dtype)
    return uninitialised((arange_length(start, end, step, dtype),), dtype, NOWHERE)


@META.impl("arange.start_out")
def arange_out(keys: int, start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    """`out`, resized where the number of elements differs."""
    length = arange_length(start, end, step, out.dtype)
    resize_range(out, length)
    return out
