"""Which statistics are made of sums, products of matrices and norms?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (nanmean, var_mean, std_mean, dist), aten/src/ATen/native/Correlation.cpp,
    aten/src/ATen/native/LinearAlgebra.cpp (norm)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import BOOL, INTEGRAL, Number, bool_, dtype, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.user_line import warn_user
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

vector_norm = on_tensor("linalg_vector_norm")
nansum, sum_dims = on_tensor("nansum"), on_tensor("sum.dim_IntList")
logical_not_, divide, not_equal = on_tensor("logical_not_"), on_tensors("div.Tensor"), on_tensors("ne.Tensor")
var_mean_correction, std_mean_correction = on_tensor("var_mean.correction"), on_tensor("std_mean.correction")

# Means ----------------------------------------------------------------------------------------------------------


def nanmean(self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The sum of what is no NaN, divided by how many there are."""
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


# Variance and mean: `unbiased` is a correction of 1 ---------------------------------------------------------------


def var_mean(self: Tensor, unbiased: bool) -> Any:
    """The variance of everything, and the mean."""
    return var_mean_dim(self, None, unbiased, False)


def var_mean_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool, keepdim: bool) -> Any:
    """The variance over dimensions, and the mean."""
    return var_mean_correction(self, dim, 1 if unbiased else 0, keepdim)


def std_mean(self: Tensor, unbiased: bool) -> Any:
    """The square root of the variance of everything, and the mean."""
    return std_mean_dim(self, None, unbiased, False)


def std_mean_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool, keepdim: bool) -> Any:
    """The square root of the variance over dimensions, and the mean."""
    return std_mean_correction(self, dim, 1 if unbiased else 0, keepdim)


# Covariance -----------------------------------------------------------------------------------------------------


def cov(self: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None) -> Tensor:
    """How rows vary together over the columns, each of which counts as often and as much as its weights say."""
    _check_matrix(self, "cov")
    if self.dtype is bool_:
        raise DtypeError("cov(): bool dtype is not supported for input")
    rows = self.view(1, -1) if self.dim() < 2 else self  # (variables, observations)
    count = rows.shape[1]
    weights = None
    if fweights is not None:
        _check_weights(fweights, "fweights", "integral", fweights.dtype.category == INTEGRAL, count)
        weights = fweights
    if aweights is not None:
        _check_weights(aweights, "aweights", "floating point", aweights.dtype.is_floating_point, count)
        weights = aweights if weights is None else weights * aweights
    total = rows.new_full((), count, dtype=int64) if weights is None else weights.sum()
    if weights is not None and not bool(total != 0):
        raise ArgumentError("cov(): weights sum to zero, can't be normalized")
    weighted = rows if weights is None else rows * weights
    mean = weighted.sum(1) / total
    if weights is not None and aweights is not None and correction != 0:
        divisor = total - correction * (weights * aweights).sum() / total
    else:
        divisor = total - correction
    if bool(divisor <= 0):
        warn_user(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations."
        )
        divisor = divisor * 0
    distance = rows - mean.unsqueeze(1)
    right = distance if weights is None else distance * weights
    return functions.mm(distance, right.t().conj()).true_divide(divisor).squeeze()


def corrcoef(self: Tensor) -> Tensor:
    """The covariance divided by both standard deviations: between -1 and 1."""
    _check_matrix(self, "corrcoef")
    together = cov(self, 1, None, None)
    if not together.dim():
        return together / together  # NaN where it is 0, infinite or NaN
    variances = together.diagonal()
    deviations = (variances.real if together.dtype.is_complex else variances).sqrt()
    together = together / deviations.view(-1, 1) / deviations.view(1, -1)
    if together.dtype.is_complex:
        return functions.complex(together.real.clamp(-1, 1), together.imag.clamp(-1, 1))
    return together.clamp(-1, 1)


def _check_matrix(self: Tensor, name: str) -> None:
    if self.dim() > 2:
        raise ShapeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with {self.dim()} dimensions"
        )


def _check_weights(weights: Tensor, name: str, kind: str, fits: bool, count: int) -> None:
    """Weights are a vector of one kind of number, not negative, one for each observation."""
    if weights.dim() > 1:
        raise ShapeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions"
        )
    if not fits:
        raise DtypeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {weights.dtype.scalar_name} dtype"
        )
    if weights.numel() != count:
        raise ShapeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {count}"
        )
    if count and not bool(weights.min() >= 0):
        raise ArgumentError(f"cov(): {name} cannot be negative")


# Norms ----------------------------------------------------------------------------------------------------------


def norm_all(self: Tensor, p: Number) -> Tensor:
    """The norm of all elements; its order is 2 unless given."""
    return _norm(self, p, [], False, None)


def norm_all_as(self: Tensor, p: Number | None, dtype: dtype) -> Tensor:
    """The norm of all elements, converted first."""
    return _norm(self, p, [], False, dtype)


def norm(self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The norm over dimensions."""
    return _norm(self, p, dim, keepdim, None)


def norm_as(self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool, dtype: dtype) -> Tensor:
    """The norm over dimensions, of what is converted first."""
    return _norm(self, p, dim, keepdim, dtype)


def _norm(self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool, dtype: dtype | None) -> Tensor:
    given = dtype or self.dtype
    if given.category in (BOOL, INTEGRAL):
        raise DtypeError(
            f"norm(): input dtype should be either floating point or complex. Got {given.scalar_name} instead."
        )
    return vector_norm(self, 2 if p is None else p, dim, keepdim, dtype)


def dist(self: Tensor, other: Tensor, p: Number) -> Tensor:
    """The norm of the difference."""
    return norm_all(self - other, p)
