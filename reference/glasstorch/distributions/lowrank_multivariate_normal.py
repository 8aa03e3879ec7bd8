"""What is a normal distribution of vectors whose covariance is a narrow product and a diagonal?

Mirrors: torch/distributions/lowrank_multivariate_normal.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.multivariate_normal import log_diagonal, mahalanobis, times_vector
from glasstorch.distributions.utils import Sizes, lazy_property, standard_normal
from glasstorch.operators.generated import functions as f

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the covariance `W @ W.mT + diag(D)`, where W is n x m with a small m.

    All is computed with matrices of m x m, by the matrix determinant lemma and Woodbury's identity. Their centre is the
    capacitance `1 + W.mT @ inverse(diag(D)) @ W`.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = ("loc", "cov_diag", "cov_factor")
    _shared = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        n = loc.shape[-1]
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1:] != (n,):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")
        try:
            batch_shape = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand((*batch_shape, n))
        self.cov_factor = cov_factor.expand((*batch_shape, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch_shape, n))
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        self._capacitance_tril = f.linalg_cholesky(plus_identity(scaled @ cov_factor))
        super().__init__(batch_shape, (n,), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The variance of each element."""
        spread = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return spread.expand(self._batch_shape + self._event_shape)

    def _as_matrices(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance matrix."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        return self._as_matrices(root * f.linalg_cholesky(plus_identity(scaled @ scaled.mT)))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        return self._as_matrices(factor @ factor.mT + f.diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        inner = self._through_capacitance()
        return self._as_matrices(f.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - inner.mT @ inner)

    def _through_capacitance(self) -> Tensor:
        """A with `inverse(covariance) = inverse(diag(D)) - A.mT @ A`."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        return f.linalg_solve_triangular(self._capacitance_tril, scaled, upper=False)

    def _log_det(self) -> Tensor:
        """The logarithm of the determinant of the covariance matrix."""
        return 2 * log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def _mahalanobis(self, vector: Tensor) -> Tensor:
        """`vector @ inverse(covariance) @ vector`."""
        diagonal = self._unbroadcasted_cov_diag
        scaled = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        within = mahalanobis(self._capacitance_tril, times_vector(scaled, vector))
        return (vector.pow(2) / diagonal).sum(-1) - within

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        shape = self._extended_shape(sample_shape)
        dtype, device = self.loc.dtype, self.loc.device
        of_factor = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], dtype, device)
        of_diagonal = standard_normal(shape, dtype, device)
        spread = times_vector(self._unbroadcasted_cov_factor, of_factor)
        return self.loc + spread + self._unbroadcasted_cov_diag.sqrt() * of_diagonal

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        distance = self._mahalanobis(value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self) -> Tensor:
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def plus_identity(matrix: Tensor) -> Tensor:
    """A square matrix with 1 added to its diagonal."""
    return matrix + f.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
