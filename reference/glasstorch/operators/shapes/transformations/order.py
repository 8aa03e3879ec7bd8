"""What strides does a flipped or rolled tensor have?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp (flip, roll, roll_common)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.errors import ShapeError
from glasstorch.core.geometry import (
    Shape,
    channels_last_strides,
    existing_dim,
    looks_channels_last,
    row_major,
    strides_like,
    wrap_dims,
)
from glasstorch.operators.shapes.indexing.advanced import like
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def flip(self: Tensor, dims: Sequence[int]) -> Result:
    """The input's shape and order of dimensions in memory."""
    wrap_dims(dims, len(self._shape))
    return like(self)


def roll(self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Result:
    """The input's shape; row-major, or channels last if both joined parts are."""
    shape = self._shape
    if not shifts:
        raise ShapeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return Result(shape, self.dtype, self._strides if shape == (0,) else None)
    if len(shifts) != len(dims):
        raise ShapeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    strides = self.strides()
    for shift, dim in zip(shifts, dims, strict=True):
        if 0 in shape:
            strides = strides_like(shape, strides)
            continue
        strides = _rolled_strides(shape, strides, shift, existing_dim(dim, len(shape)))
    return Result(shape, self.dtype, strides)


def _rolled_strides(shape: Shape, strides: Shape, shift: int, dim: int) -> Shape:
    """The strides of the two parts after they are joined in swapped order."""
    start = -shift % shape[dim]
    parts = [(*shape[:dim], size, *shape[dim + 1 :]) for size in (shape[dim] - start, start)]
    if all(looks_channels_last(part, strides) for part in parts):
        return channels_last_strides(shape)
    return row_major(shape)
