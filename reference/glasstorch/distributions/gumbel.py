"""What is the Gumbel distribution?

Mirrors: torch/distributions/gumbel.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.core.type_info import finfo
from glasstorch.distributions import constraints
from glasstorch.distributions.transformed_distribution import TransformedDistribution
from glasstorch.distributions.transforms.elementwise import AffineTransform, ExpTransform
from glasstorch.distributions.uniform import Uniform
from glasstorch.distributions.utils import Parameter, broadcast_all, euler_constant
from glasstorch.operators.generated import functions as f

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """The largest of many numbers with exponential tails: `loc - scale * log(-log(u))` for a uniform u."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _batched = ("loc", "scale")

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        low, high = f.full_like(self.loc, limits.tiny), f.full_like(self.loc, 1 - limits.eps)
        logarithm = ExpTransform().inv
        transforms = [
            logarithm,
            AffineTransform(loc=0, scale=-f.ones_like(self.scale)),
            logarithm,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), transforms, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
