"""What is Fisher's and Snedecor's F distribution?

Mirrors: torch/distributions/fishersnedecor.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.core.type_info import finfo
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.gamma import Gamma
from glasstorch.distributions.utils import Parameter, Sizes, broadcast_all
from glasstorch.operators.generated import functions as f

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The quotient of two chi-squared numbers, each divided by its degrees of freedom, `df1` and `df2`."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _batched = ("df1", "df2", "_gamma1", "_gamma2")

    def __init__(self, df1: Parameter, df2: Parameter, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """nan up to df2 = 2."""
        df2 = f.where(self.df2 <= 2, math.nan, self.df2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """nan up to df1 = 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return f.where(self.df1 <= 2, math.nan, mode)

    @property
    def variance(self) -> Tensor:
        """nan up to df2 = 4."""
        df2 = f.where(self.df2 <= 4, math.nan, self.df2)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        tiny = finfo(self.df1.dtype).tiny
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        return (above / below.clamp_(min=tiny)).clamp_(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        normalizer = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        rising = half1 * ratio.log() + (half1 - 1) * f.log(value)
        return normalizer + rising - (half1 + half2) * f.log1p(ratio * value)
