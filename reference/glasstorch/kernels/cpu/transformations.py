"""How are elements reordered, repeated and kept in triangles on the CPU?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp (flip, roll), Repeat.cpp (repeat_interleave_cpu) and
    TriangularOps.cpp (tril_cpu, triu_cpu, apply_triu_tril) of the same folder
Differs: NumPy has a function for each of them, which moves or copies the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from glasstorch._tensor import Tensor, empty
from glasstorch.core.dtype import STORED_ONLY, int32, int64
from glasstorch.core.errors import ArgumentError, ShapeError, not_implemented_for
from glasstorch.core.geometry import wrap_dims
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.structured import finish, shape_function, structured
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.transformations import order as shapes

CPU = KernelTable("CPU")
Triangle = Callable[[Array, int], Array]  # np.tril or np.triu


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


@slot
def keep(triangle: Triangle, source: Array, diagonal: int, target: Array) -> None:
    """Copy the elements of the triangle, and zeros elsewhere."""
    target[...] = triangle(source, diagonal)


def register_triangle(name: str, triangle: Triangle) -> None:
    """Register the elements on and below a diagonal, or on and above it; the others are 0."""
    shape = shape_function(name)

    @structured(CPU, name)
    def kept(keys: int, self: Tensor, diagonal: int, out: Tensor | None = None) -> Tensor:
        shape(self, diagonal)
        rows, columns = self._shape[-2:]
        diagonal = max(-rows - 1, min(diagonal, columns + 1))  # beyond that nothing changes, and NumPy counts in int64
        result = empty(self._shape, self.dtype) if out is None else out
        keep.run(triangle, self.array(), diagonal, result.array())
        return result


register_triangle("tril", np.tril)
register_triangle("triu", np.triu)
