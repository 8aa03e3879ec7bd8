"""What is the log-normal distribution?

Mirrors: torch/distributions/log_normal.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.normal import Normal
from glasstorch.distributions.transformed_distribution import TransformedDistribution, of_base
from glasstorch.distributions.transforms.elementwise import ExpTransform
from glasstorch.distributions.utils import Parameter

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """Numbers whose logarithm is normal with mean `loc` and standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Normal
    _batched = ()

    loc: Tensor = of_base("loc", "The mean of the logarithm.")
    scale: Tensor = of_base("scale", "The standard deviation of the logarithm.")

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
