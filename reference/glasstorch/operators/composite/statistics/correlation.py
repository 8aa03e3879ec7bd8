"""How are covariances and correlations composed of sums and matrix products?

Mirrors: aten/src/ATen/native/Correlation.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import INTEGRAL, bool_, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.hooks import decides
from glasstorch.core.user_line import warn_user
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

nansum = on_tensor("nansum")
logical_not_ = on_tensor("logical_not_")

# Covariance -----------------------------------------------------------------------------------------------------


def cov(self: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None) -> Tensor:
    """The covariance matrix of the rows; columns are observations, with integer and real weights."""
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
    if weights is not None and decides(total) and not bool(total != 0):
        raise ArgumentError("cov(): weights sum to zero, can't be normalized")
    weighted = rows if weights is None else rows * weights
    mean = weighted.sum(1) / total
    if weights is not None and aweights is not None and correction != 0:
        divisor = total - correction * (weights * aweights).sum() / total
    else:
        divisor = total - correction
    if decides(divisor) and bool(divisor <= 0):
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
    """Refuse weights that are not a vector of one non-negative number, of the right dtype, per observation."""
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
    if count and decides(weights) and not bool(weights.min() >= 0):
        raise ArgumentError(f"cov(): {name} cannot be negative")
