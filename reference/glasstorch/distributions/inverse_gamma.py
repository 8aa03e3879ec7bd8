"""What is the inverse gamma distribution?

Mirrors: torch/distributions/inverse_gamma.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.gamma import Gamma
from glasstorch.distributions.transformed_distribution import TransformedDistribution, of_base
from glasstorch.distributions.transforms.elementwise import PowerTransform
from glasstorch.distributions.utils import Parameter
from glasstorch.operators.generated import functions as f

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """The reciprocal of a gamma number."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma
    _batched = ()

    concentration: Tensor = of_base("concentration", "The gamma number's concentration.")
    rate: Tensor = of_base("rate", "The gamma number's rate.")

    def __init__(self, concentration: Parameter, rate: Parameter, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """Infinite up to concentration 1."""
        return f.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """Infinite up to concentration 2."""
        less = self.concentration - 1
        finite = self.rate.square() / (less.square() * (self.concentration - 2))
        return f.where(self.concentration > 2, finite, math.inf)

    def entropy(self) -> Tensor:
        concentration = self.concentration
        return concentration + self.rate.log() + concentration.lgamma() - (1 + concentration) * concentration.digamma()
