"""What is Student's t distribution?

Mirrors: torch/distributions/studentT.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.chi2 import Chi2
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.utils import Parameter, Sizes, broadcast_all, standard_normal
from glasstorch.operators.generated import functions as f

__all__ = ["StudentT"]


class StudentT(Distribution):
    """A normal number divided by the root of a mean of `df` squares of others, scaled and moved to `loc`."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _batched = ("df", "loc", "scale", "_chi2")

    def __init__(
        self, df: Parameter, loc: Parameter = 0.0, scale: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """nan up to df = 1."""
        return f.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Infinite from df = 1 to 2, nan below."""
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return f.where(self.df > 2, finite, f.where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        normal = standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * (normal * f.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + f.lgamma(0.5 * self.df)
            - f.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * f.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta
