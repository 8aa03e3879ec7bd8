"""What is the Laplace distribution?

Mirrors: torch/distributions/laplace.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.core.type_info import finfo
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.location_scale import LocationScale
from glasstorch.distributions.utils import Sizes
from glasstorch.operators.generated import functions as f

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """An exponential distribution of mean `scale` to either side of `loc`."""

    _batched = ("loc", "scale")

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        shape = self._extended_shape(sample_shape)
        # From just above -1, so that the logarithm is finite.
        u = self.loc.new_empty(shape).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -f.log(2 * self.scale) - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        offset = value - self.loc
        return 0.5 - 0.5 * offset.sign() * f.expm1(-offset.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * f.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        return 1 + f.log(2 * self.scale)
