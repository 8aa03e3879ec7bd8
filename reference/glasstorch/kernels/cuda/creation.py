"""How are new tensors created on a CUDA device?

Mirrors: aten/src/ATen/cuda/EmptyTensor.cpp, aten/src/ATen/native/cuda/RangeFactories.cu
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype, float64
from glasstorch.devices.launch import launch
from glasstorch.devices.modules import kernel
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.creation import counted
from glasstorch.kernels.creation.factories import new_empty, register_empty
from glasstorch.kernels.creation.ranges import register_arange, whole
from glasstorch.kernels.cuda.copies import THREADS, blocks_for, copy_elements
from glasstorch.kernels.cuda.tensors import CODE, COMPUTED, operands
from glasstorch.kernels.structured import check_writable
from glasstorch.operators.composite.creation import real

CUDA = KernelTable("CUDA")


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines."""
    for name in ("arange_whole", "arange_float", "arange_double"):
        yield "fill.cu", name, ()


def made(start: Number, step: Number, length: int, dtype: dtype, device: device, pin_memory: bool | None) -> Tensor:
    """A vector of the numbers `start + step * i`."""
    result = new_empty(device, (length,), dtype, pin_memory, None)
    count_up(result, start, step)
    return result


def fill(out: Tensor, start: Number, step: Number) -> None:
    """Write the numbers to a tensor whose elements do not overlap."""
    check_writable(out, ())
    count_up(out, start, step)


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


register_empty(CUDA)
register_arange(CUDA, made, fill, "arange_cuda")
