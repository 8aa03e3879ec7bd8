"""What do the factory functions of every backend have in common?

Mirrors: aten/src/ATen/EmptyTensor.cpp, aten/src/ATen/native/TensorFactories.cpp, RangeFactories.cpp (arange_out)
Differs: nothing in substance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from glasstorch._tensor import Tensor, empty, empty_pinned, empty_strided
from glasstorch.core import hooks
from glasstorch.core.device import CPU, META, device
from glasstorch.core.dtype import Number, dtype, get_default_dtype, int64
from glasstorch.core.errors import ArgumentValueError, DeviceError, DtypeNotImplementedError, ShapeError, StorageError
from glasstorch.core.geometry import Shape, channels_last_strides, contiguous_strides
from glasstorch.core.layout import channels_last, channels_last_3d, contiguous_format, memory_format
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.functions import arange, randperm

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)

RANKS = {channels_last: 4, channels_last_3d: 5}


def checked_shape(size: Sequence[int]) -> Shape:
    """The sizes as a shape; a negative one is refused."""
    shape = tuple(size)
    if shape and min(shape) < 0:
        raise ShapeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def strides_of_format(shape: Shape, format: memory_format | None) -> Shape | None:
    """The strides that a memory format gives a new tensor; None for row-major."""
    if format is None or format is contiguous_format:
        return None
    if format not in RANKS:
        raise ShapeError("unsupported memory format Preserve")
    if len(shape) != RANKS[format]:
        raise ShapeError(f"required rank {RANKS[format]} tensor to use {format.name} format")
    return channels_last_strides(shape)


def pinned(shape: Shape, strides: Shape | None, dtype: dtype, on: device) -> Tensor:
    """An uninitialised tensor in pinned memory, which only CUDA's allocator gives and only CPU tensors have."""
    if on is not CPU:
        raise DeviceError(f"Only dense CPU tensors can be pinned; pin_memory=True was asked for on {on}")
    try:
        hooks.cuda_hooks.lazy_init()
    except DeviceError as error:
        raise DeviceError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available "
            f"on this system. {error}"
        ) from None
    return empty_pinned(shape, contiguous_strides(shape) if strides is None else strides, dtype)


def new_empty(
    on: device, size: Sequence[int], dtype: dtype | None, pin_memory: bool | None, format: memory_format | None
) -> Tensor:
    """The kernel of `empty` on a device."""
    shape = checked_shape(size)
    dtype = get_default_dtype() if dtype is None else dtype
    strides = None if format is None else strides_of_format(shape, format)
    if pin_memory and on is not META:
        return pinned(shape, strides, dtype, on)
    return empty(shape, dtype, on) if strides is None else empty_strided(shape, strides, dtype, on)


def new_empty_strided(
    on: device, size: Sequence[int], stride: Sequence[int], dtype: dtype | None, pin_memory: bool | None
) -> Tensor:
    """The kernel of `empty_strided` on a device."""
    shape, strides = checked_shape(size), tuple(stride)
    if len(shape) != len(strides):
        raise ShapeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    if any(step < 0 for step in strides):
        raise StorageError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    dtype = get_default_dtype() if dtype is None else dtype
    if pin_memory and on is not META:
        return pinned(shape, strides, dtype, on)
    return empty_strided(shape, strides, dtype, on)


# arange ---------------------------------------------------------------------------------------------------------


def arange_dtype(start: Number, end: Number, step: Number, wanted: dtype | None) -> dtype:
    """What was asked for, or else int64 for whole numbers and the default dtype where a float is among them."""
    if wanted is not None:
        return wanted
    return get_default_dtype() if any(isinstance(n, float) for n in (start, end, step)) else int64


def arange_length(start: Number, end: Number, step: Number, dtype: dtype) -> int:
    """How many numbers lie from `start` up to `end`; an int64 range is counted in whole numbers."""
    if dtype.name == "bool":
        raise DtypeNotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    if step == 0:
        raise ShapeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise ShapeError(f"unsupported range: {start:g} -> {end:g}")
    if (step > 0 and end < start) or (step < 0 and end > start):
        raise ShapeError("upper bound and lower bound inconsistent with step sign")
    if dtype is not int64:
        return math.ceil((float(end) - float(start)) / float(step))
    first, last, stride = int(start), int(end), int(step)
    if not stride:
        raise ArgumentValueError(f"step must be nonzero; a step of {step} is 0 in int64")
    return max(-((first - last) // stride), 0)


# out= forms -----------------------------------------------------------------------------------------------------


@COMPOSED.impl("empty.out")
def empty_out(size: Sequence[int], memory_format: memory_format | None, out: Tensor) -> Tensor:
    """`out`, resized."""
    return out.resize_(size) if memory_format is None else out.resize_(size, memory_format=memory_format)


@COMPOSED.impl("zeros.out")
def zeros_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and set to 0."""
    return out.resize_(size).zero_()


@COMPOSED.impl("ones.out")
def ones_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and set to 1."""
    return out.resize_(size).fill_(1)


@COMPOSED.impl("full.out")
def full_out(size: Sequence[int], fill_value: Number, out: Tensor) -> Tensor:
    """`out`, resized and filled."""
    return out.resize_(size).fill_(fill_value)


@COMPOSED.impl("arange.out")
def arange_out(end: Number, out: Tensor) -> Tensor:
    """`out`, resized and set to the numbers from 0 up to `end`."""
    return arange(0, end, 1, out=out)


@COMPOSED.impl("rand.out")
def rand_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with uniform numbers."""
    return out.resize_(size).uniform_(0.0, 1.0)


@COMPOSED.impl("randn.out")
def randn_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with normal numbers."""
    return out.resize_(size).normal_(0.0, 1.0)


@COMPOSED.impl("randint.out")
def randint_out(high: int, size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with integers of [0, high)."""
    return out.resize_(size).random_(0, high)


@COMPOSED.impl("randint.low_out")
def randint_low_out(low: int, high: int, size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with integers of [low, high)."""
    return out.resize_(size).random_(low, high)


@COMPOSED.impl("randperm.out")
def randperm_out(n: int, out: Tensor) -> Tensor:
    """`out`, resized and filled with the integers from 0 to n - 1 in random order."""
    numbers = randperm(n, dtype=out.dtype, device=out.device)
    return out.resize_(numbers.shape).copy_(numbers)
