"""What shape have the maxima of windows at random places, and which inputs are refused?

Mirrors: aten/src/ATen/native/FractionalMaxPool2d.cpp, FractionalMaxPool3d.cpp, FractionalMaxPooling.h
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.geometry import Shape
from glasstorch.operators.shapes.pooling.sliding import check_indices, check_kernel_dtype
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

AXES = {2: ("height", "width"), 3: ("time", "height", "width")}
TUPLES = {2: "tuple of Ints", 3: "tuple of three Ints"}


def fractional_max_pool2d(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Tensor
) -> tuple[Result, Result]:
    """The maxima, and where each was found in its plane."""
    return _fractional_max_pool(self, kernel_size, output_size, random_samples, 2)


def fractional_max_pool3d(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Tensor
) -> tuple[Result, Result]:
    """The maxima, and where each was found in its volume."""
    return _fractional_max_pool(self, kernel_size, output_size, random_samples, 3)


def _fractional_max_pool(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], samples: Tensor, dims: int
) -> tuple[Result, Result]:
    _check_lengths(kernel_size, output_size, dims)
    sizes = self._shape
    name = "fractional_max_pool2d()" if dims == 2 else "fractional_max_pool3d_out()"
    if len(sizes) not in (dims + 1, dims + 2):
        raise ShapeError(f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(sizes)}")
    for dim in range(len(sizes) - dims - 1, len(sizes)):
        if not sizes[dim]:
            raise ShapeError(
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but got{list(sizes)} with "
                f"dimension {dim} being empty."
            )
    for axis, size, kernel, count in zip(AXES[dims], sizes[-dims:], kernel_size, output_size, strict=True):
        if count < 1:
            raise ArgumentError(f"{name}: output_size must be positive, got {count} for the {axis}")
        if kernel < 1 or count + kernel - 1 > size:
            raise ArgumentError(f"{name}: pool {axis} {kernel} too large relative to input {axis} {size}")
    _check_samples(self, samples, dims)
    if prod(sizes):  # PyTorch calls no kernel where there are no elements
        check_kernel_dtype(f"fractional_max_pool{dims}d_out_frame", self, FLOATS)
    shape = (*sizes[:-dims], *output_size)
    return Result(shape, self.dtype, None, same_dtype), Result(shape, int64, None, same_dtype)


def _check_lengths(kernel_size: Sequence[int], output_size: Sequence[int], dims: int) -> None:
    for what, numbers in (("kernel_size", kernel_size), ("output_size", output_size)):
        if len(numbers) != dims:
            raise ArgumentError(f"fractional_max_pool{dims}d: {what} must either be a single Int or {TUPLES[dims]}")


def _check_samples(self: Tensor, samples: Tensor, dims: int) -> None:
    """A random number for each plane and dimension, (N, C, dims), of the input's dtype."""
    batch, planes = ((1, *self._shape) if len(self._shape) == dims + 1 else self._shape)[:2]
    if samples.dtype is not self.dtype:
        raise DtypeError("Expect _random_samples to have the same dtype as input")
    given = samples._shape
    if len(given) != 3:
        raise ShapeError(f"Expect _random_samples to have 3 dimensions, got {len(given)}")
    if given[0] < batch:
        raise ShapeError("Expect _random_samples.size(0) no less then input batch size.")
    if given[1] != planes:
        raise ShapeError("Expect _random_samples.size(1) equals to input channel size.")
    if given[2] != dims:
        raise ShapeError(f"Expect _random_samples.size(2) equals to {dims}; got {given[2]}.")


def fractional_max_pool2d_backward(
    grad_output: Tensor, self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], indices: Tensor
) -> Result:
    """The shape of the input."""
    wanted = (*self._shape[:-2], *output_size)
    if grad_output._shape != wanted:
        raise ShapeError("fractional_max_pool2d_backward(): gradOutput sizes unexpected")
    return _gradient(grad_output, self, indices, wanted)


def fractional_max_pool3d_backward(
    grad_output: Tensor, self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], indices: Tensor
) -> Result:
    """The shape of the input."""
    wanted = (*self._shape[:-3], *output_size)
    for axis, found, size in zip(AXES[3], grad_output._shape[-3:], output_size, strict=True):
        if found != size:
            raise ShapeError(f"fractional_max_pool3d_backward_out(): gradOutput {axis} unexpected")
    return _gradient(grad_output, self, indices, wanted)


def _gradient(grad_output: Tensor, self: Tensor, indices: Tensor, wanted: Shape) -> Result:
    if not 3 <= len(self._shape) <= 5:
        raise ShapeError(f"expected an input with channels, with a batch or without, got {list(self._shape)}")
    if grad_output.dtype is not self.dtype:
        raise DtypeError(f"expected scalar type {self.dtype.scalar_name} but found {grad_output.dtype.scalar_name}")
    if indices._shape != wanted:
        raise ShapeError(f"expected indices of sizes {list(wanted)}, got {list(indices._shape)}")
    check_indices(indices)
    check_kernel_dtype(f"fractional_max_pool{len(wanted) - 2}d_backward_out_frame", self, FLOATS)
    return Result(self._shape, self.dtype, None, same_dtype)
