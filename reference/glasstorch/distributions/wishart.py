"""What is the Wishart distribution?

Mirrors: torch/distributions/wishart.py
Differs: warns of singular draws only where there are some. PyTorch takes its first draws for singular where they are
    not, warns, and draws again; here the first draws are thrown away too, so that a seed gives the same matrices.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.core.type_info import finfo
from glasstorch.distributions import constraints
from glasstorch.distributions.chi2 import Chi2
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.exp_family import ExponentialFamily
from glasstorch.distributions.multivariate_normal import FACTOR_OF, log_diagonal, the_one_given
from glasstorch.distributions.utils import Sizes, lazy_property
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import tensor

__all__ = ["Wishart"]

LOG_2 = math.log(2)


class Wishart(ExponentialFamily):
    """The sum of `v @ v.mT` over `df` normal vectors v of mean 0; the degrees of freedom need not be an integer.

    The covariance of the vectors is given by exactly one of three matrices, as for `MultivariateNormal`.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = ("df", "covariance_matrix", "scale_tril", "precision_matrix", "_dist_chi2")
    _shared = ("_unbroadcasted_scale_tril",)

    def __init__(
        self,
        df: Tensor | float,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = the_one_given(covariance_matrix, precision_matrix, scale_tril, AssertionError)
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        self.df = df if isinstance(df, Tensor) else tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape = broadcast_shapes(matrix.shape[:-2], self.df.shape)
        self.df = self.df.expand(batch_shape)
        p = matrix.shape[-1]
        if self.df.le(p - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {p - 1}.")
        if self.df.lt(p).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = FACTOR_OF[name](matrix)
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - f.arange(p, dtype=matrix.dtype, device=matrix.device))

    @property
    def arg_constraints(self) -> Mapping[str, constraints.Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance matrix."""
        return self._unbroadcasted_scale_tril.expand(self._extended_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._extended_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance matrix."""
        factor = self._unbroadcasted_scale_tril
        identity = f.eye(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        return f.cholesky_solve(identity, factor).expand(self._extended_shape())

    @property
    def mean(self) -> Tensor:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """nan up to df = p + 1."""
        factor = self.df - self._event_shape[-1] - 1
        factor = f.where(factor <= 0, math.nan, factor)
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """The variance of each element."""
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        spread = covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * spread

    def _bartlett_sampling(self, sample_shape: Sizes) -> Tensor:
        """Draws by Bartlett's decomposition, singular where rounding made them so.

        The factor of a draw has roots of chi-squared numbers in its diagonal and normal numbers below it.
        """
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        rows, columns = f.tril_indices(p, p, offset=-1)
        shape = (*sample_shape, *self._batch_shape, p * (p - 1) // 2)
        noise[..., rows, columns] = f.randn(shape, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape: Sizes = NO_SHAPE, max_try_correction: int | None = None) -> Tensor:
        """Draws; with a warning, singular ones are drawn again, up to `max_try_correction` times (10)."""
        self._bartlett_sampling(sample_shape)  # PyTorch draws twice: see the head of this file
        sample = self._bartlett_sampling(sample_shape)
        for attempt in range(10 if max_try_correction is None else max_try_correction):
            singular = ~self.support.check(sample)
            if self._batch_shape:
                singular = singular.flatten(len(sample_shape)).any(-1)
            if not singular.any():
                break
            if attempt == 0:
                warnings.warn("Singular sample detected.", stacklevel=2)
            sample[singular] = self._bartlett_sampling(singular[singular].shape)
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = f.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (  # type: ignore[no-any-return]
            -nu * (p * LOG_2 / 2 + log_diagonal(factor))
            - f.mvlgamma(nu / 2, p=p)
            + (nu - p - 1) / 2 * f.linalg_slogdet(value).logabsdet
            - trace / 2
        )

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        return (
            (p + 1) * (p * LOG_2 / 2 + log_diagonal(self._unbroadcasted_scale_tril))
            + f.mvlgamma(nu / 2, p=p)
            - (nu - p - 1) / 2 * mvdigamma(nu / 2, p)
            + nu * p / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-f.linalg_slogdet(-2 * x).logabsdet + LOG_2 * p) + f.mvlgamma(half, p=p)  # type: ignore[no-any-return]


def mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of `mvlgamma`, the logarithm of the gamma function of dimension p."""
    return f.digamma(x.unsqueeze(-1) - f.arange(p, dtype=x.dtype, device=x.device) / 2).sum(-1)
