"""What is the half-Cauchy distribution?

Mirrors: torch/distributions/half_cauchy.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.cauchy import Cauchy
from glasstorch.distributions.transformed_distribution import TransformedDistribution
from glasstorch.distributions.transforms.elementwise import AbsTransform
from glasstorch.distributions.utils import Parameter
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import as_tensor

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """The absolute value of a Cauchy number around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Cauchy
    _batched = ()

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The scale of the distribution before its absolute value is taken."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return f.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value = as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
