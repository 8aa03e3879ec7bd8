"""What is the Cauchy distribution?

Mirrors: torch/distributions/cauchy.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.location_scale import LocationScale
from glasstorch.distributions.utils import Sizes
from glasstorch.operators.generated import functions as f

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """The quotient of two normal numbers: half of all draws lie within `scale` of `loc`; it has no moments."""

    _batched = ("loc", "scale")

    @property
    def mean(self) -> Tensor:
        """nan, as the integral does not exist."""
        return f.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return f.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return f.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return f.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
