"""What do products, variances, counts and running sums give, and over which dimensions?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (TORCH_META_FUNC2(prod, dim_int), std_var_out, meta_func_cum_ops)
Differs: nothing in substance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from glasstorch.core.dtype import BOOL, INTEGRAL, Number, dtype, int64
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.user_line import warn_user
from glasstorch.operators.shapes.promotion import float_result_type
from glasstorch.operators.shapes.reductions import reduced_dims, reduced_shape
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
    """One dimension less."""
    return accumulated(self, reduced_shape(self._shape, reduced_dims([dim], len(self._shape)), keepdim), dtype)


# Variances ------------------------------------------------------------------------------------------------------


def correction_of(correction: Number | None) -> float:
    """What is taken from the number of elements before dividing by it; 1 unless given."""
    return 1.0 if correction is None else float(correction.real)


def _variance(self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool) -> Result:
    """Floating point and complex only; the variance of complex numbers is real."""
    if self.dtype.category in (BOOL, INTEGRAL):
        raise DtypeError("std and var only support floating point and complex dtypes")
    shape = reduced_shape(self._shape, reduced_dims(dim, len(self._shape)), keepdim)
    return Result(shape, self.dtype.to_real())


var = std = _variance
VARIANCES: Final[dict[str, Callable[..., Result]]] = {"var": var, "std": std}


def check_degrees_of_freedom(name: str, count: int, shape: Shape, correction: Number | None) -> None:
    """Warn where the sum of squares is divided by 0."""
    if math.prod(shape) and count <= correction_of(correction):
        warn_user(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            f"(input numel divided by output numel)."
        )


# Counts, logarithms of sums --------------------------------------------------------------------------------------


def count_nonzero(self: Tensor, dim: Sequence[int]) -> Result:
    """int64; an empty list means all dimensions."""
    return Result(reduced_shape(self._shape, reduced_dims(dim, len(self._shape)), False), int64)


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool) -> Result:
    """Integers and bool become the default floating dtype; an empty list means all dimensions."""
    dtype = self.dtype if self.dtype.is_complex else float_result_type(self)
    return Result(reduced_shape(self._shape, reduced_dims(dim, len(self._shape)), keepdim), dtype)


# Running sums and products --------------------------------------------------------------------------------------


def cumulative(self: Tensor, dim: int, dtype: dtype | None) -> Result:
    """The tensor's own sizes."""
    wrap_dim(dim, len(self._shape))
    return accumulated(self, self._shape, dtype)


cumsum = cumprod = cumulative
