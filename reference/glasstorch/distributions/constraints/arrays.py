"""Which constraints are there of vectors and matrices?

Mirrors: torch/distributions/constraints.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_
from glasstorch.core.type_info import finfo
from glasstorch.distributions.constraints.constraint import Constraint
from glasstorch.operators.generated import functions as f


class _Simplex(Constraint):
    """Vectors of non-negative numbers that sum to 1, within 1e-6."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Matrix(Constraint):
    event_dim = 2


class _LowerTriangular(_Matrix):
    """Matrices with zeros above the diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlation matrices: their rows have length 1, up to ten rounding errors a column."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.size(-1) * 10
        lengths = f.linalg_vector_norm(value.detach(), dim=-1)
        return super().check(value) & (lengths - 1.0).abs().le(tolerance).all(dim=-1)


class _Square(_Matrix):
    """Matrices with as many rows as columns."""

    def check(self, value: Tensor) -> Tensor:
        square = value.shape[-2] == value.shape[-1]
        return f.full(value.shape[:-2], square, dtype=bool_, device=value.device)


class _Symmetric(_Square):
    """Matrices that equal their transpose, within 1e-6."""

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        return f.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without a negative eigenvalue."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return f.linalg_eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return f.linalg_cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric
