"""Which arguments do put, masked_scatter, reducing scatters and nonzero_static accept?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (put_, masked_scatter, masked_scatter__cpu, meta functions of
    scatter_reduce and of scatter with reduce=), aten/src/ATen/native/cpu/TensorCompareKernel.cpp and
    NonZeroStatic.cpp of the same folder (nonzero_static)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from glasstorch.core.dtype import Number, bool_, int64
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, ShapeError
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.shapes.indexing.advanced import like, scatter_src, scatter_value
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

OLD_REDUCTIONS: Final = ("add", "multiply")  # of scatter
REDUCTIONS: Final = ("sum", "prod", "mean", "amax", "amin")  # of scatter_reduce
EXTREMA: Final = {"max": "amax", "min": "amin"}  # other names, which PyTorch accepts without documenting them


# scatter with a reduction ---------------------------------------------------------------------------------------


def scatter_reduce(self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str) -> Result:
    """As `scatter`; the reduction is one of two."""
    result = scatter_src(self, dim, index, src)
    _check_old(reduce)
    return result


def scatter_value_reduce(self: Tensor, dim: int, index: Tensor, value: Number, reduce: str) -> Result:
    """As `scatter` with a Python number; the reduction is one of two."""
    result = scatter_value(self, dim, index, value)
    _check_old(reduce)
    return result


def _check_old(reduce: str) -> None:
    if reduce not in OLD_REDUCTIONS:
        raise ArgumentError("reduce argument must be either add or multiply.")


def scatter_reduce_two(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool = True
) -> Result:
    """As `scatter`; the reduction is one of five, two of which have a second name."""
    result = scatter_src(self, dim, index, src)
    if reduce not in REDUCTIONS and reduce not in EXTREMA:
        raise ArgumentError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return result


# put, masked_scatter --------------------------------------------------------------------------------------------


def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Result:
    """The shape, dtype and strides of `self`; the source has one element for each index."""
    if index.dtype is not int64:
        raise DtypeError(f"put_(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    if self.dtype is not source.dtype:
        raise DtypeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {self.dtype.scalar_name} "
            f"and source.dtype = {source.dtype.scalar_name}"
        )
    if source.numel() != index.numel():
        raise DimensionError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}"
        )
    if index.numel() and not self.numel():
        raise DimensionError("put_(): Tried to put elements into an empty tensor")
    return like(self)


def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Result:
    """The broadcast shape of the tensor and the mask, row-major."""
    shape = broadcast_shapes(mask._shape, self._shape)
    if self.dtype is not source.dtype:
        raise DtypeError(
            f"masked_scatter: expected self and source to have same dtypes but got {self.dtype.scalar_name} and "
            f"{source.dtype.scalar_name}"
        )
    if mask.dtype is not bool_:
        raise DtypeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.scalar_name}"
        )
    return Result(shape, self.dtype)


# nonzero_static -------------------------------------------------------------------------------------------------


def nonzero_static(self: Tensor, size: int, fill_value: int = -1) -> Result:
    """`size` rows with an index for each dimension."""
    if size < 0:
        raise ShapeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    return Result((size, len(self._shape)), int64, check_out=_check_long)


def _check_long(result: object, out: object) -> None:
    if out is not int64:
        raise DtypeError(f"nonzero_static: Expected out tensor to have scalar type Long but got scalar type {out}")
