"""How are flip and roll computed on the CPU?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp
Differs: np.flip and np.roll move the elements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import STORED_ONLY
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.geometry import wrap_dims
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import allocate_output
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.transformations import order as shapes

CPU = KernelTable("CPU")


@CPU.impl("flip")
def flip(keys: int, self: Tensor, dims: Sequence[int]) -> Tensor:
    """The elements reversed along each of the dimensions: a copy, as strides are never negative."""
    result = shapes.flip(self, dims)
    if self.dtype in STORED_ONLY and not moves_lines(self, dims):
        raise not_implemented_for("flip_cpu", self.dtype)
    array = self.array()
    return holding(result, np.flip(array, tuple(dims)) if array.ndim else array)


def moves_lines(tensor: Tensor, dims: Sequence[int]) -> bool:
    """Whether a flip keeps contiguous runs in order: PyTorch then copies bytes, for any dtype."""
    shape, flipped = tensor._shape, wrap_dims(dims, len(tensor._shape))
    if 0 in shape or all(shape[dim] == 1 for dim in flipped):
        return True
    return any(
        size > 1 and step == 1 and dim not in flipped
        for dim, (size, step) in enumerate(zip(shape, tensor.strides(), strict=True))
    )


@CPU.impl("roll")
def roll(keys: int, self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """Every element moved on by the shift; those moved past the end reappear at the front."""
    result, array = shapes.roll(self, shifts, dims), self.array()
    if array.size:  # dimensions are not checked for an empty tensor
        array = np.roll(array, tuple(shifts), tuple(dims) or None)  # without dimensions, all elements as one row
    return holding(result, array)


def holding(result: Result, values: Array) -> Tensor:
    """A fresh tensor with the result's strides and these values."""
    tensor = allocate_output(result)
    tensor.array()[...] = values
    return tensor
