"""What is the logistic normal distribution?

Mirrors: torch/distributions/logistic_normal.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.independent import Independent
from glasstorch.distributions.normal import Normal
from glasstorch.distributions.transformed_distribution import TransformedDistribution
from glasstorch.distributions.transforms.structured import StickBreakingTransform
from glasstorch.distributions.utils import Parameter

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Shares that sum to 1, one more than the normal numbers that they are made of by breaking a stick."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Independent[Normal]
    _batched = ()

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale
