"""How far are normal distributions of vectors apart, by a factor of the covariance or by a low rank and a diagonal?

Mirrors: torch/distributions/kl.py (_kl_multivariatenormal_multivariatenormal and its three neighbours)

All four are half of `log det(Q) - log det(P) + trace(inverse(Q) @ P) + |p.loc - q.loc|^2 - n`, with covariances P and Q
and the length measured by `inverse(Q)`. Only the trace differs.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions.kl.dispatch import register_kl
from glasstorch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from glasstorch.distributions.multivariate_normal import MultivariateNormal, log_diagonal, mahalanobis
from glasstorch.operators.generated import functions as f


def log_det(p: Any) -> Tensor:
    """The logarithm of the determinant of the covariance."""
    return p._log_det() if isinstance(p, LowRankMultivariateNormal) else 2 * log_diagonal(p._unbroadcasted_scale_tril)


def squared_length(q: Any, vector: Tensor) -> Tensor:
    """The squared length of vectors, measured by the inverse of the covariance."""
    if isinstance(q, LowRankMultivariateNormal):
        return q._mahalanobis(vector)
    return mahalanobis(q._unbroadcasted_scale_tril, vector)


def factors(p: Any) -> list[Tensor]:
    """Matrices whose products with their transposes sum to the covariance."""
    if isinstance(p, LowRankMultivariateNormal):
        return [p._unbroadcasted_cov_factor, f.diag_embed(p._unbroadcasted_cov_diag.sqrt())]
    return [p._unbroadcasted_scale_tril]


def squares(matrix: Tensor) -> Tensor:
    """The sum of the squared elements of each matrix."""
    return matrix.pow(2).sum((-2, -1))


def trace_of_quotient(q: Any, factor: Tensor) -> Tensor:
    """The trace of `inverse(Q) @ factor @ factor.mT`."""
    if isinstance(q, LowRankMultivariateNormal):
        of_diagonal = squares(factor * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1))
        return of_diagonal - squares(q._through_capacitance() @ factor)
    return squares(f.linalg_solve_triangular(q._unbroadcasted_scale_tril, factor, upper=False))


def kl_gaussians(p: Any, q: Any) -> Tensor:
    """The divergence of two normal distributions of vectors, however their covariances are given."""
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed: "
            f"{tuple(p.event_shape)} and {tuple(q.event_shape)}"
        )
    trace = sum(trace_of_quotient(q, factor) for factor in factors(p))
    distance = squared_length(q, q.loc - p.loc)
    return 0.5 * (log_det(q) - log_det(p) + trace + distance - p.event_shape[0])  # type: ignore[no-any-return]


for _type_p in (MultivariateNormal, LowRankMultivariateNormal):
    for _type_q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_type_p, _type_q)(kl_gaussians)
