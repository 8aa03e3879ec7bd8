"""Which reductions are composed of others?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (var, std, logsumexp), aten/src/ATen/native/TensorAdvancedIndexing.cpp
    (count_nonzero)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import BOOL, INTEGRAL, dtype, get_default_dtype
from glasstorch.core.errors import DtypeError
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


# Variances: `unbiased` is a correction of 1 ------------------------------------------------------------------------

var_correction, std_correction = on_tensor("var.correction"), on_tensor("std.correction")


def var(self: Tensor, unbiased: bool) -> Tensor:
    """The variance of all elements."""
    return var_dim(self, None, unbiased, False)


def var_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool, keepdim: bool) -> Tensor:
    """The variance over dimensions."""
    return var_correction(self, dim, 1 if unbiased else 0, keepdim)


def std(self: Tensor, unbiased: bool) -> Tensor:
    """The standard deviation of all elements."""
    return std_dim(self, None, unbiased, False)


def std_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool, keepdim: bool) -> Tensor:
    """The standard deviation over dimensions."""
    return std_correction(self, dim, 1 if unbiased else 0, keepdim)


# Counts, logarithms of sums ------------------------------------------------------------------------------------------

count_nonzero_dims = on_tensor("count_nonzero.dim_IntList")


def count_nonzero(self: Tensor, dim: int | None) -> Tensor:
    """How many elements are not 0, over one dimension or all."""
    return count_nonzero_dims(self, [] if dim is None else [dim])


amax, isinf = on_tensor("amax"), on_tensor("isinf")
masked_fill_, subtract, add_ = on_tensors("masked_fill_.Scalar"), on_tensors("sub.Tensor"), on_tensors("add_.Tensor")
exp_, log_, sum_dims = on_tensor("exp_"), on_tensor("log_"), on_tensor("sum.dim_IntList")
nansum = on_tensor("nansum")
logical_not_ = on_tensor("logical_not_")
divide = on_tensors("div.Tensor")
not_equal = on_tensors("ne.Tensor")
var_mean_correction = on_tensor("var_mean.correction")
std_mean_correction = on_tensor("std_mean.correction")


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The largest element is subtracted before exp and added back after log, unless it is infinite."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        self = self.to(get_default_dtype())
    if 0 in self._shape:
        return self.exp().sum(dim, keepdim).log()
    largest = amax(self.real if self.dtype.is_complex else self, dim, True)
    masked_fill_(largest, isinf(largest), 0)
    total = log_(sum_dims(exp_(subtract(self, largest, 1)), dim, keepdim, None))
    return add_(total, largest if keepdim else largest.reshape(total._shape), 1)


def nanmean(self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The sum of the elements that are not NaN, divided by their number."""
    if self.dtype.category in (BOOL, INTEGRAL):
        raise DtypeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {self.dtype.scalar_name}"
        )
    if dtype is not None and dtype.category in (BOOL, INTEGRAL):
        raise DtypeError(
            f"nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
            f"dtype. Got: {dtype.scalar_name}"
        )
    whole = self.detach()
    counted = sum_dims(logical_not_(not_equal(whole, whole)), dim, keepdim, None)
    return divide(nansum(self, dim, keepdim, dtype), counted)


def var_mean(self: Tensor, unbiased: bool) -> Any:
    """The variance and the mean of all elements."""
    return var_mean_dim(self, None, unbiased, False)


def var_mean_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool, keepdim: bool) -> Any:
    """The variance and the mean over dimensions."""
    return var_mean_correction(self, dim, 1 if unbiased else 0, keepdim)


def std_mean(self: Tensor, unbiased: bool) -> Any:
    """The standard deviation and the mean of all elements."""
    return std_mean_dim(self, None, unbiased, False)


def std_mean_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool, keepdim: bool) -> Any:
    """The standard deviation and the mean over dimensions."""
    return std_mean_correction(self, dim, 1 if unbiased else 0, keepdim)
