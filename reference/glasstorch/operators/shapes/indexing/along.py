"""Which sources and indices do index_copy, index_add, index_reduce and index_fill accept?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (meta functions of index_copy, index_add and index_reduce,
    index_fill_)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from glasstorch.core.dtype import Number, int32, int64
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.shapes.indexing.advanced import like
from glasstorch.operators.shapes.result import Result, same_dtype
from glasstorch.operators.shapes.scalars import number_as

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

INTEGERS = (int64, int32)
INDEX_REDUCTIONS: Final = ("prod", "mean", "amax", "amin")


def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Number) -> Result:
    """The shape and dtype of `self`; the source has a slice of matching shape for each index."""
    result = _accumulated("index_add", self, wrap_dim(dim, len(self._shape)), index, source)
    number_as(alpha, self.dtype)
    return result


def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, include_self: bool = True
) -> Result:
    """As `index_add`; the reduction is named."""
    if reduce not in INDEX_REDUCTIONS:
        raise ArgumentError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    return _accumulated("index_reduce", self, wrap_dim(dim, len(self._shape)), index, source)


def _accumulated(name: str, self: Tensor, dim: int, index: Tensor, source: Tensor) -> Result:
    if len(index._shape) > 1:
        raise DimensionError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {len(index._shape)} with type: "
            f"{index.dtype.scalar_name} and size: {list(index._shape)}"
        )
    if index.dtype not in INTEGERS:
        raise DtypeError(f"{name}_(): Expected dtype int32/int64 for index but got: {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise DtypeError(
            f"{name}_(): self ({self.dtype.scalar_name}) and source ({source.dtype.scalar_name}) must have the same "
            f"scalar type"
        )
    ours, theirs, count = self._shape, source._shape, index.numel()
    if dim and dim >= len(theirs):
        raise ShapeError(f"{name}_(): Indexing dim {dim} is out of bounds of the source tensor with dim {len(theirs)}")
    if not theirs and count != 1:
        raise DimensionError(f"Dimension specified as {dim} but tensor has no dimensions")
    if theirs and count != theirs[dim]:
        raise ShapeError(
            f"{name}_(): Number of indices ({count}) should be equal to source.size(dim): ({theirs[dim]}), for dim: "
            f"{dim}"
        )
    if len(ours) != len(theirs) or without(ours, dim) != without(theirs, dim):
        raise ShapeError(
            f"source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(ours)} source.shape = {list(theirs)}"
        )
    return Result(ours, self.dtype, check_out=same_dtype)


def without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    """The shape without one dimension: that of a slice at one index.

    >>> without((2, 3, 4), 1), without((), 0)
    ((2, 4), ())
    """
    return (*shape[:dim], *shape[dim + 1 :])


def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Result:
    """The shape and dtype of `self`; the source has a slice of matching shape for each index.

    A 0-dim tensor or source counts as a vector of one element.
    """
    ours, theirs, count = self._shape, source._shape, index.numel()
    dim = wrap_dim(dim, len(ours))
    if len(index._shape) > 1:
        raise DimensionError(f"index_copy_(): Index should have dimension 1 or 0 (got {len(index._shape)})")
    if not theirs and count != 1:
        raise DimensionError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    if len(ours) != len(theirs) and ours and theirs:
        raise DimensionError(
            f"index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(theirs)}), destination dimensionality ({len(ours)})"
        )
    if index.dtype is not int64:
        raise DtypeError(f"index_copy_(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise DtypeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {self.dtype.scalar_name} "
            f"and (source) {source.dtype.scalar_name}"
        )
    slices = without(ours, dim), without(theirs, dim)
    if slices[0] != slices[1]:
        spelled = [" ".join(map(str, sizes)) for sizes in slices]
        raise ShapeError(
            f"index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{spelled[0]} at dimension {dim} and source slice shape: {spelled[1]} at dimension 0."
        )
    if theirs and count != theirs[dim]:
        raise DimensionError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({theirs[dim]})"
        )
    return Result(ours, self.dtype, check_out=same_dtype)


def index_fill(self: Tensor, dim: int, index: Tensor, value: Number) -> Result:
    """The shape, dtype and strides of `self`; its dtype must hold the value."""
    if index.dtype is not int64:
        raise DimensionError("index_fill_(): Expected dtype int64 for index.")
    if isinstance(value, complex) and not self.dtype.is_complex:
        raise DtypeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    wrap_dim(dim, len(self._shape))
    if len(index._shape) > 1:
        raise ShapeError("Index has to be a vector/scalar")
    number_as(value, self.dtype)
    return like(self)
