"""What is the normal distribution?

Mirrors: torch/distributions/normal.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.exp_family import ExponentialFamily
from glasstorch.distributions.location_scale import LocationScale
from glasstorch.distributions.utils import Sizes, standard_normal
from glasstorch.operators.generated import functions as f

__all__ = ["Normal"]


class Normal(LocationScale, ExponentialFamily):
    """The normal (Gaussian) distribution with mean `loc` and standard deviation `scale`.

    >>> import glasstorch as torch
    >>> Normal(0.0, torch.tensor([1.0, 2.0])).log_prob(torch.tensor(0.0))
    tensor([-0.9189, -1.6121])
    """

    _mean_carrier_measure = 0
    _batched = ("loc", "scale")

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return f.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 0.5 * (1 + f.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * f.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return -0.25 * x.pow(2) / y + 0.5 * f.log(-math.pi / y)
