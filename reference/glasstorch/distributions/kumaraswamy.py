"""What is the Kumaraswamy distribution?

Mirrors: torch/distributions/kumaraswamy.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.transformed_distribution import TransformedDistribution
from glasstorch.distributions.transforms.elementwise import AffineTransform, PowerTransform
from glasstorch.distributions.uniform import Uniform
from glasstorch.distributions.utils import Parameter, broadcast_all, euler_constant
from glasstorch.operators.generated import functions as f

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """A share much like a beta number, but with a distribution function in closed form: `1 - (1 - x^a)^b`."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _batched = ("concentration1", "concentration0")

    def __init__(self, concentration1: Parameter, concentration0: Parameter, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(f.zeros_like(self.concentration0), f.ones_like(self.concentration0), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """The mean of the n-th power."""
        a, b = 1 + n / self.concentration1, self.concentration0
        return b * f.exp(a.lgamma() + b.lgamma() - (a + b).lgamma())

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """nan where a concentration is below 1."""
        a, b = self.concentration1, self.concentration0
        mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return f.where((b < 1) | (a < 1), math.nan, mode).exp()

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = f.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
