"""How are flip and roll computed on a CUDA device?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp (flip, roll_common), cuda/TensorTransformations.cu (roll_cuda)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, empty
from glasstorch.core.geometry import wrap_dim, wrap_dims
from glasstorch.devices.launch import BLOCK, grid_for, launch
from glasstorch.devices.modules import kernel
from glasstorch.devices.stream import device as on_device
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import contiguous, copy_elements
from glasstorch.kernels.cuda.tensors import geometry, output
from glasstorch.kernels.cuda.units import UNIT, widest
from glasstorch.operators.shapes.transformations import order as shapes

CUDA = KernelTable("CUDA")


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    for unit in UNIT.values():
        for name in ("flip", "roll"):
            yield "transformations.cu", f"{name}<{unit}>", ()


@CUDA.impl("flip")
def flip(keys: int, self: Tensor, dims: Sequence[int]) -> Tensor:
    """The elements reversed along each of the dimensions: a copy, as strides are never negative."""
    result = output(shapes.flip(self, dims), self.device)
    size, strides, start = self.numel(), list(self.strides()), 0
    if not size:
        return result
    for dim in wrap_dims(dims, len(strides)) if strides else ():
        start += (self._shape[dim] - 1) * strides[dim]
        strides[dim] = -strides[dim]
    walk = geometry(self._shape, result.strides(), tuple(strides))
    move("flip", self.dtype.itemsize, size, self, result, walk, np.int64(size), np.int64(start))
    return result


@CUDA.impl("roll")
def roll(keys: int, self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """Every element moved on by the shift; those moved past the end reappear at the front."""
    result = shapes.roll(self, shifts, dims)
    if not self.numel():
        return output(result, self.device)
    rolled = contiguous(self)
    if dims:
        for shift, dim in zip(shifts, dims, strict=True):
            dim = wrap_dim(dim, len(self._shape))
            rolled = roll_one(rolled, shift, self._shape[dim], prod(self._shape[dim + 1 :]))
    else:
        rolled = roll_one(rolled, shifts[0], self.numel(), 1)
    if result.strides in (None, rolled.strides()):
        return rolled
    return copy_elements(output(result, self.device), rolled)


def roll_one(tensor: Tensor, shift: int, size: int, inner: int) -> Tensor:
    """A row-major tensor rolled along a dimension of `size`, whose stride is `inner`."""
    result = empty(tensor._shape, tensor.dtype, tensor.device)
    itemsize = tensor.dtype.itemsize
    unit = widest(tensor.data_ptr(), result.data_ptr(), inner * itemsize)
    count = tensor.numel() * itemsize // unit
    numbers = map(np.int64, (count, size, inner * itemsize // unit, -shift % size))
    move("roll", unit, count, tensor, result, *numbers)
    return result


def move(name: str, unit: int, count: int, source: Tensor, target: Tensor, *rest: Any) -> None:
    """Launch a kernel of transformations.cu that moves `count` units of `unit` bytes."""
    made = kernel("transformations.cu", f"{name}<{UNIT[unit]}>")
    with on_device(target.device):
        launch(made, grid_for(count, BLOCK), BLOCK, (source.data_ptr(), target.data_ptr(), *rest))
