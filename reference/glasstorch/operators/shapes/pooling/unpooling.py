"""What shape has a tensor whose maxima are put back to their places, and which inputs are refused?

Mirrors: aten/src/ATen/native/MaxUnpooling.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.operators.shapes.pooling.sliding import check_kernel_dtype
from glasstorch.operators.shapes.pooling.windows import laid_out_as
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def max_unpool2d(self: Tensor, indices: Tensor, output_size: Sequence[int]) -> Result:
    """The sizes asked for, with the planes of the input."""
    _check_index_dtype(indices, f" but got: {indices.dtype.scalar_name}")
    if len(output_size) != 2:
        raise ArgumentError(
            f"There should be exactly two elements (height, width) in output_size, but got {len(output_size)} elements."
        )
    if len(self._shape) not in (3, 4):
        raise ShapeError(
            f"Input to max_unpooling2d should be a 3d or 4d Tensor, but got a tensor with {len(self._shape)} "
            "dimensions."
        )
    return _unpooled(self, indices, output_size)


def max_unpool3d(
    self: Tensor, indices: Tensor, output_size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> Result:
    """The sizes asked for, with the volumes of the input; stride and padding are only checked."""
    _check_index_dtype(indices, "")
    if len(self._shape) not in (4, 5):
        raise ShapeError(
            f"Input to max_unpooling3d should be a 4d or 5d Tensor, but got a tensor with {len(self._shape)} "
            "dimensions."
        )
    for what, numbers, says in (
        ("output_size", output_size, "but got"),
        ("stride", stride, "but got:"),
        ("padding", padding, "but got:"),
    ):
        if len(numbers) != 3:
            raise ArgumentError(
                f"There should be exactly three elements (depth, height, width) in {what}, {says} {len(numbers)} "
                "elements."
            )
    if min(stride) <= 0:
        raise ArgumentError(f"strides should be greater than zero, but got stride: {list(stride)}")
    return _unpooled(self, indices, output_size)


def _check_index_dtype(indices: Tensor, tail: str) -> None:
    if indices.dtype is not int64:
        raise DtypeError(f"elements in indices should be type int64{tail}")


def _unpooled(self: Tensor, indices: Tensor, output_size: Sequence[int]) -> Result:
    sizes, dims = self._shape, len(output_size)
    if indices._shape != sizes:
        raise ShapeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(sizes)}) but got indices tensor "
            f"with shape: {list(indices._shape)}"
        )
    for dim in range(1, len(sizes)):
        if not sizes[dim]:
            raise ShapeError(
                f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {list(sizes)} with dimension {dim} being empty."
            )
    if prod(sizes):  # PyTorch calls no kernel where there are no elements
        check_kernel_dtype(f"max_unpool{dims}d", self, FLOATS)
    shape = (*sizes[:-dims], *output_size)
    return Result(shape, self.dtype, laid_out_as(self, shape), same_dtype)
