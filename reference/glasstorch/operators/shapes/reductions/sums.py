"""What shape and dtype do sums, means, extrema, all and any have?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (TORCH_META_FUNC), aten/src/ATen/native/ReduceOpsUtils.h,
    aten/src/ATen/native/TensorCompare.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATING, bool_, check_can_cast, dtype, int64, uint8
from glasstorch.core.errors import DimensionError, DtypeError, ShapeError
from glasstorch.core.geometry import Shape, wrap_dim, wrap_dims
from glasstorch.operators.shapes.result import Result, any_dtype, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

MOST_DIMENSIONS = 64

Dims = Sequence[int] | None  # the dimensions that a reduction removes; None and an empty list mean all


# Which dimensions -----------------------------------------------------------------------------------------------


def reduced_dims(dim: Dims, ndim: int) -> Shape:
    """The dimensions that a reduction removes; None and an empty list mean all. A 0-dim tensor has none.

    >>> reduced_dims([-1], 3), reduced_dims([], 2), reduced_dims([0], 0)
    ((2,), (0, 1), ())
    """
    if ndim > MOST_DIMENSIONS:
        raise ShapeError(f"only tensors with up to {MOST_DIMENSIONS} dims are supported, this one has {ndim}")
    wrapped = wrap_dims(dim, ndim) if dim else tuple(range(ndim))
    return wrapped if ndim else ()


def reduced_shape(shape: Shape, dims: Shape, keepdim: bool) -> Shape:
    """The shape after a reduction.

    >>> reduced_shape((2, 3, 4), (1,), False), reduced_shape((2, 3, 4), (1,), True)
    ((2, 4), (2, 1, 4))
    """
    if keepdim:
        return tuple(1 if d in dims else size for d, size in enumerate(shape))
    return tuple(size for d, size in enumerate(shape) if d not in dims)


def shape_over(self: Tensor, dim: Dims, keepdim: bool) -> Shape:
    """A tensor's shape after a reduction; None and an empty list mean all dimensions."""
    return reduced_shape(self._shape, reduced_dims(dim, len(self._shape)), keepdim)


def _check_not_empty(name: str, shape: Shape, dim: int) -> None:
    """Refuse the extremum of an empty tensor."""
    if shape and shape[dim] == 0:
        raise nothing_along(f"{name}()", dim)


def nothing_along(name: str, dim: int) -> DimensionError:
    """The error of a reduction that is undefined for an empty dimension."""
    return DimensionError(f"{name}: Expected reduction dim {dim} to have non-zero size.")


# Sums -----------------------------------------------------------------------------------------------------------


def sum(self: Tensor, dtype: dtype | None) -> Result:
    """One element."""
    return sum_dim(self, None, False, dtype)


def sum_dim(self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None) -> Result:
    """Integers and bool are summed as int64; an out= tensor chooses the dtype where none is given."""
    shape = shape_over(self, dim, keepdim)
    if dtype is not None:
        return Result(shape, dtype, None, same_dtype)
    return Result(shape, self.dtype if self.dtype.category >= FLOATING else int64, None, any_dtype)


def nansum(self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None) -> Result:
    """As `sum_dim`; complex inputs are refused."""
    if self.dtype.is_complex:
        raise DtypeError("nansum on CPU does not support complex inputs")
    return sum_dim(self, dim, keepdim, dtype)


def mean(self: Tensor, dtype: dtype | None) -> Result:
    """One element."""
    return mean_dim(self, None, False, dtype)


def mean_dim(self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None) -> Result:
    """Floating point and complex inputs only, unless `dtype` converts the others."""
    computed = dtype or self.dtype
    if computed.category < FLOATING:
        whose = "Input" if dtype is None else "Optional"
        raise DtypeError(
            f"mean(): could not infer output dtype. {whose} dtype must be either a floating point or complex dtype. "
            f"Got: {computed.scalar_name}"
        )
    shape = shape_over(self, dim, keepdim)
    return Result(shape, computed, None, check_can_cast if dtype is None else same_dtype)


# Extrema --------------------------------------------------------------------------------------------------------


def _extremum(name: str, self: Tensor) -> Result:
    """One element."""
    if 0 in self._shape:
        raise ShapeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            f"with the 'dim' argument."
        )
    return Result((), self.dtype)


def _extremum_dim(name: str, self: Tensor, dim: int, keepdim: bool) -> tuple[Result, Result]:
    """Values, and indices as int64."""
    _check_ordered(name, self.dtype)
    dim = wrap_dim(dim, len(self._shape))
    _check_not_empty(name, self._shape, dim)
    shape = reduced_shape(self._shape, (dim,), keepdim)
    return Result(shape, self.dtype, None, same_dtype), Result(shape, int64, None, same_dtype)


def _extremum_dims(name: str, self: Tensor, dim: Sequence[int], keepdim: bool) -> Result:
    """Any number of dimensions; none given means all. Errors quote a dimension as given."""
    for d in dim:
        if self._shape and not self._shape[wrap_dim(d, len(self._shape))]:
            raise nothing_along(f"{name}()", d)
    if not dim:
        _extremum(name, self)
    return Result(shape_over(self, dim, keepdim), self.dtype, None, _input_dtype)


def _arg_extremum(name: str, self: Tensor, dim: int | None, keepdim: bool) -> Result:
    """An int64 index; without a dimension it is a flat, row-major index."""
    if self.dtype is bool_:
        raise DtypeError(f"{name}(): does not support bool input")
    _check_ordered(name, self.dtype)
    if dim is not None:
        dim = wrap_dim(dim, len(self._shape))
        _check_not_empty(name, self._shape, dim)
        return Result(reduced_shape(self._shape, (dim,), keepdim), int64, None, same_dtype)
    if 0 in self._shape:
        raise DimensionError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    return Result((1,) * len(self._shape) if keepdim else (), int64, None, same_dtype)


def aminmax(self: Tensor, dim: int | None, keepdim: bool) -> tuple[Result, Result]:
    """The smallest and the largest element."""
    ndim = len(self._shape)
    dims = reduced_dims(None if dim is None else [dim], ndim)
    if dim is None and 0 in self._shape:
        raise ShapeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    if dim is not None and ndim and not self._shape[dims[0]]:
        raise nothing_along("aminmax", dims[0])
    one = Result(reduced_shape(self._shape, dims, keepdim), self.dtype, None, same_dtype)
    return one, one


def _check_ordered(name: str, dtype: dtype) -> None:
    if dtype.is_complex:
        raise DtypeError(f"{name}(): does not support complex input")


def _input_dtype(result: dtype, out: dtype) -> None:
    """The out= rule of amax and amin: no casting."""
    if result is not out:
        raise DtypeError(
            f"Expected the dtype for input and out to match, but got {result.scalar_name} for input's dtype and "
            f"{out.scalar_name} for out's dtype."
        )


max = partial(_extremum, "max")
min = partial(_extremum, "min")
max_dim = partial(_extremum_dim, "max")
min_dim = partial(_extremum_dim, "min")
amax = partial(_extremum_dims, "amax")
amin = partial(_extremum_dims, "amin")
argmax = partial(_arg_extremum, "argmax")
argmin = partial(_arg_extremum, "argmin")


# all and any ----------------------------------------------------------------------------------------------------


def _logical_dims(name: str, self: Tensor, dim: Dims, keepdim: bool) -> Result:
    """None means all dimensions, an empty list none of them."""
    ndim = len(self._shape)
    dims = () if dim is not None and not dim else reduced_dims(dim, ndim)
    shape = reduced_shape(self._shape, dims, keepdim)
    return Result(shape, truth_dtype(self.dtype), None, partial(_check_truth_dtype, name))


def _logical_dim(name: str, self: Tensor, dim: int, keepdim: bool) -> Result:
    """One dimension."""
    return _logical_dims(name, self, [dim], keepdim)


def _logical(name: str, self: Tensor) -> Result:
    """One element."""
    return _logical_dims(name, self, None, False)


def truth_dtype(input: dtype) -> dtype:
    """The dtype of all and any: bool, and for historical reasons uint8 for uint8."""
    return uint8 if input is uint8 else bool_


def _check_truth_dtype(name: str, result: dtype, out: dtype) -> None:
    """The out= rule of all and any: bool or uint8."""
    if out is not bool_ and out is not uint8:
        raise DtypeError(f"{name} only supports bool tensor for result, got: {out.scalar_name}")


all = partial(_logical, "all")
any = partial(_logical, "any")
all_dim = partial(_logical_dim, "all")
any_dim = partial(_logical_dim, "any")
all_dims = partial(_logical_dims, "all")
any_dims = partial(_logical_dims, "any")
