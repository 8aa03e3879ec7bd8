"""What shape and dtype do products, variances and counts have?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (TORCH_META_FUNC2(prod, dim_int), std_var_out, std_var_mean_out,
    TORCH_META_FUNC(hash_tensor))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from glasstorch.core.dtype import BOOL, INTEGRAL, Number, dtype, int64, uint64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.user_line import warn_user
from glasstorch.operators.shapes.promotion import float_result_type
from glasstorch.operators.shapes.reductions.sums import nothing_along, shape_over
from glasstorch.operators.shapes.result import Result, any_dtype, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def accumulated(self: Tensor, shape: Shape, dtype: dtype | None) -> Result:
    """Integers and bool are accumulated as int64; an out= tensor chooses the dtype where none is given."""
    if dtype is not None:
        return Result(shape, dtype, None, same_dtype)
    return Result(shape, int64 if self.dtype.category in (BOOL, INTEGRAL) else self.dtype, None, any_dtype)


# Products -------------------------------------------------------------------------------------------------------


def prod(self: Tensor, dtype: dtype | None) -> Result:
    """One element."""
    return accumulated(self, (), dtype)


def prod_dim(self: Tensor, dim: int, keepdim: bool, dtype: dtype | None) -> Result:
    """The shape without the dimension."""
    return accumulated(self, shape_over(self, [dim], keepdim), dtype)


# Variances ------------------------------------------------------------------------------------------------------


def correction_of(correction: Number | None) -> float:
    """What is subtracted from the number of elements in the divisor; 1 by default."""
    return 1.0 if correction is None else float(correction.real)


def _variance(self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool) -> Result:
    """Floating point and complex inputs only; the variance of complex numbers is real."""
    if self.dtype.category in (BOOL, INTEGRAL):
        raise DtypeError("std and var only support floating point and complex dtypes")
    shape = shape_over(self, dim, keepdim)
    return Result(shape, self.dtype.to_real())


var = std = _variance


def _variance_and_mean(
    name: str, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool
) -> tuple[Result, Result]:
    """The variance, which is real, and the mean, which is complex for complex inputs."""
    if self.dtype.category in (BOOL, INTEGRAL):
        raise DtypeError(f"{name} only support floating point and complex dtypes")
    result = _variance(self, dim, correction, keepdim)._replace(check_out=same_dtype)
    return result, result._replace(dtype=self.dtype)


var_mean = partial(_variance_and_mean, "var_mean")
std_mean = partial(_variance_and_mean, "std_mean")


def divisor(name: str, count: int, shape: Shape, correction: Number | None) -> float:
    """By what a sum of squares is divided: the degrees of freedom, with a warning where it is 0."""
    degrees = max(count - correction_of(correction), 0)
    if math.prod(shape) and not degrees:
        warn_user(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            f"(input numel divided by output numel)."
        )
    return degrees


# Counts, logarithms of sums -------------------------------------------------------------------------------------


def count_nonzero(self: Tensor, dim: Sequence[int]) -> Result:
    """int64; an empty list means all dimensions."""
    return Result(shape_over(self, dim, False), int64)


def hash_tensor(self: Tensor, dim: Sequence[int], keepdim: bool, mode: int) -> Result:
    """uint64; an empty list means all dimensions."""
    if mode != 0:
        raise ArgumentError(f"Unknown hash_tensor mode: {mode}")
    for d in dim:
        if self._shape and not self._shape[wrap_dim(d, len(self._shape))]:
            raise nothing_along("hash_tensor", d)
    if not dim and 0 in self._shape:
        raise ShapeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            "with the 'dim' argument."
        )
    shape = shape_over(self, dim, keepdim)
    return Result(shape, uint64, None, _hash_dtype)


def _hash_dtype(result: dtype, out: dtype) -> None:
    if out is not result:
        raise DtypeError(f"Expected result to be of dtype uint64, but got {out.scalar_name}")


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool) -> Result:
    """Integers and bool become the default floating dtype; an empty list means all dimensions."""
    dtype = self.dtype if self.dtype.is_complex else float_result_type(self)
    return Result(shape_over(self, dim, keepdim), dtype)
