"""How are diagonals set and extracted?

Mirrors: aten/src/ATen/native/TensorShape.cpp (diag, diag_embed, diagflat), Fill.cpp (fill_diagonal_)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number
from glasstorch.core.errors import ShapeError
from glasstorch.core.geometry import Shape, existing_dim, wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.composite.creation import new_zeros
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

diag_operator = on_tensor("diag")
diag_embed_operator = on_tensor("diag_embed")
diagonal_view = on_tensor("diagonal")
diagonal_copy = on_tensor("diagonal_copy")
contiguous = on_tensor("contiguous")
view = on_tensor("view")
as_strided = on_tensor("as_strided")


def diag(self: Tensor, diagonal: int) -> Tensor:
    """A matrix with the vector on a diagonal, or the diagonal of a matrix, copied."""
    ndim = len(self._shape)
    if ndim not in (1, 2):
        raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    if ndim == 1:
        return diag_embed_operator(self, diagonal, -2, -1)
    return diagonal_copy(self, diagonal, 0, 1)


def diagflat(self: Tensor, offset: int) -> Tensor:
    """A matrix with all elements, row by row, on a diagonal."""
    return diag_operator(view(contiguous(self, contiguous_format), (-1,)), offset)


def diag_embed(self: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """Zeros, with the last dimension placed on the diagonal of two new dimensions."""
    result = new_zeros(self, embedded_shape(self._shape, offset, dim1, dim2), None, None, None, None)
    diagonal_view(result, offset, dim1, dim2).copy_(self)
    return result


def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool) -> Tensor:
    """Fill the elements whose indices are all equal with a number.

    With `wrap`, the diagonal of a tall matrix starts again one row below its end, repeatedly.
    """
    shape, strides = self._shape, self.stride()
    if len(shape) < 2:
        raise ShapeError(f"dimensions must larger than 1: expected a tensor of 2 or more dimensions, got {len(shape)}")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise ShapeError(f"all dimensions of input must be of equal length, got {list(shape)}")
    width = shape[1]
    number, step, start = min(shape[0], width), sum(strides), self.storage_offset()
    as_strided(self, (number,), (step,), start).fill_(fill_value)
    if wrap and len(shape) == 2 and shape[0] > width + 1:
        rest = (self.numel() + width) // (width + 1) - number
        as_strided(self, (rest,), (step,), start + strides[0] * (width + 1)).fill_(fill_value)
    return self


def embedded_shape(shape: Shape, offset: int, dim1: int, dim2: int) -> Shape:
    """The shape of `diag_embed`: the last size is replaced by two, large enough for the diagonal."""
    ndim = len(shape) + 1
    first, second = sorted((wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)))
    if first == second:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    side = shape[existing_dim(-1, len(shape))] + abs(offset)
    sizes = list(shape[:-1])
    sizes.insert(first, side)
    sizes.insert(second, side)
    return tuple(sizes)
