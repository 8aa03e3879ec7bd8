"""What is the normal distribution of vectors?

Mirrors: torch/distributions/multivariate_normal.py
"""

from __future__ import annotations

import math
from collections.abc import Callable

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.utils import Sizes, lazy_property, standard_normal
from glasstorch.operators.generated import functions as f

__all__ = ["MultivariateNormal"]


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc`; their spread is given by exactly one of three matrices.

    They are the covariance matrix, its inverse (the precision matrix), and a lower triangular matrix L with `L @ L.mT`
    equal to the covariance. The computations use L: it is quickest to give that.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _batched = ("loc", "covariance_matrix", "scale_tril", "precision_matrix")
    _shared = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = the_one_given(covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions; "
                f"got shape {tuple(matrix.shape)}"
            )
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = FACTOR_OF[name](matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance matrix."""
        return self._as_matrices(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        return self._as_matrices(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        return self._as_matrices(f.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _as_matrices(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        normal = standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + times_vector(self._unbroadcasted_scale_tril, normal)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        distance = mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        half_log_det = log_diagonal(self._unbroadcasted_scale_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - half_log_det

    def entropy(self) -> Tensor:
        half_log_det = log_diagonal(self._unbroadcasted_scale_tril)
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half_log_det
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


# Of matrices and vectors ----------------------------------------------------------------------------------------------


def the_one_given(
    covariance_matrix: Tensor | None,
    precision_matrix: Tensor | None,
    scale_tril: Tensor | None,
    error: type[Exception] = ValueError,
) -> tuple[str, Tensor]:
    """The name and the value of the only matrix that is given."""
    matrices = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(given) != 1:
        raise error(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified; "
            f"got {', '.join(name for name, _ in given) or 'none'}"
        )
    return given[0]


def factor_of_inverse(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of a matrix, without computing that.

    Read backwards in both dimensions, the factor of a matrix becomes an upper one; its transposed inverse is wanted.
    """
    upper = f.linalg_cholesky(precision.flip((-2, -1))).flip((-2, -1))
    identity = f.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return f.linalg_solve_triangular(upper.mT, identity, upper=False)


FACTOR_OF: dict[str, Callable[[Tensor], Tensor]] = {
    "covariance_matrix": f.linalg_cholesky,
    "precision_matrix": factor_of_inverse,
    "scale_tril": lambda matrix: matrix,
}


def times_vector(matrix: Tensor, vector: Tensor) -> Tensor:
    """`matrix @ vector` for batches of both."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def log_diagonal(factor: Tensor) -> Tensor:
    """The logarithm of the determinant of a triangular matrix, half of that of the product with its transpose."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def mahalanobis(factor: Tensor, vector: Tensor) -> Tensor:
    """The squared length of `inverse(factor) @ vector`, for batches of both."""
    if factor.dim() == 2:  # all vectors are columns of one right-hand side
        columns = vector.reshape(-1, vector.shape[-1]).mT
        return f.linalg_solve_triangular(factor, columns, upper=False).pow(2).sum(0).reshape(vector.shape[:-1])
    return f.linalg_solve_triangular(factor, vector.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)


# What other packages import by PyTorch's private names.
_batch_mahalanobis = mahalanobis
_batch_mv = times_vector
_precision_to_scale_tril = factor_of_inverse
