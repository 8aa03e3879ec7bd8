"""What is the Weibull distribution?

Mirrors: torch/distributions/weibull.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.exponential import Exponential
from glasstorch.distributions.transformed_distribution import TransformedDistribution
from glasstorch.distributions.transforms.elementwise import AffineTransform, PowerTransform
from glasstorch.distributions.utils import Parameter, broadcast_all, euler_constant
from glasstorch.operators.generated import functions as f

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """A life time whose rate of failure rises (`concentration` above 1) or falls as a power of time."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _batched = ("scale", "concentration", "concentration_reciprocal")

    def __init__(self, scale: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(f.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * f.lgamma(1 + self.concentration_reciprocal).exp()

    @property
    def mode(self) -> Tensor:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        second = f.lgamma(1 + 2 * self.concentration_reciprocal).exp()
        return self.scale.pow(2) * (second - f.exp(2 * f.lgamma(1 + self.concentration_reciprocal)))

    def entropy(self) -> Tensor:
        reciprocal = self.concentration_reciprocal
        return euler_constant * (1 - reciprocal) + f.log(self.scale * reciprocal) + 1
