"""How are new tensors created on a CUDA device?

Mirrors: aten/src/ATen/cuda/EmptyTensor.cpp, aten/src/ATen/native/cuda/RangeFactories.cu
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch._tensor import empty as uninitialised
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype, float64, get_default_dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.devices.launch import launch
from glasstorch.devices.modules import kernel
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.creation import counted
from glasstorch.kernels.creation.factories import new_empty, new_empty_strided
from glasstorch.kernels.creation.ranges import arange_dtype, arange_length, resize_range, whole
from glasstorch.kernels.cuda.copies import THREADS, blocks_for, copy_elements
from glasstorch.kernels.cuda.tensors import CODE, COMPUTED, operands
from glasstorch.kernels.structured import check_writable
from glasstorch.operators.composite.creation import real

CUDA = KernelTable("CUDA")


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines."""
    for name in ("arange_whole", "arange_float", "arange_double"):
        yield "fill.cu", name, ()


@CUDA.impl("empty.memory_format")
def empty(
    keys: int,
    size: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:
    """Uninitialised memory."""
    shape = tuple(size)
    if pin_memory or memory_format is not None or (shape and min(shape) < 0):
        return new_empty(device, shape, dtype, pin_memory, memory_format)
    return uninitialised(shape, get_default_dtype() if dtype is None else dtype, device)


@CUDA.impl("empty_strided")
def empty_strided(
    keys: int,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device,
    pin_memory: bool | None,
) -> Tensor:
    """Uninitialised memory, just enough for the strides."""
    return new_empty_strided(device, size, stride, dtype, pin_memory)


@CUDA.impl("arange.start_step")
def arange(
    keys: int,
    start: Number,
    end: Number,
    step: Number,
    dtype: dtype | None,
    layout: layout | None,
    device: device,
    pin_memory: bool | None,
) -> Tensor:
    """`start + step * i` for i = 0, 1, 2 ..."""
    dtype = arange_dtype(start, end, step, dtype)
    result = new_empty(device, (arange_length(start, end, step, dtype, "arange_cuda"),), dtype, pin_memory, None)
    count_up(result, start, step)
    return result


@CUDA.impl("arange.start_out")
def arange_out(keys: int, start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    """As `arange`, written to `out`, whose dtype decides."""
    length = arange_length(start, end, step, out.dtype, "arange_cuda")
    resize_range(out, length)
    check_writable(out, ())
    count_up(out, start, step)
    return out


def count_up(out: Tensor, start: Number, step: Number) -> None:
    """Write `start + step * i` to element i, counted in row-major order; on the host for dtypes without a kernel."""
    count = out.numel()
    if not count:
        return
    if out.dtype not in COMPUTED:
        copy_elements(out, wrap(counted(start, step, count, out.dtype).reshape(out._shape), out.dtype))
        return
    numbers: tuple[np.generic, np.generic]
    if not out.dtype.is_floating_point:
        name, numbers = "arange_whole", (np.int64(whole(start)), np.int64(whole(step)))
    elif out.dtype is float64:
        name, numbers = "arange_double", (np.float64(real(start)), np.float64(real(step)))
    else:
        name, numbers = "arange_float", (np.float32(real(start)), np.float32(real(step)))
    walk = operands(out._shape, out, any_order=False)
    arguments = out, np.int32(CODE[out.dtype]), *numbers, walk, np.int64(count)
    launch(kernel("fill.cu", name), blocks_for(count), THREADS, arguments)
