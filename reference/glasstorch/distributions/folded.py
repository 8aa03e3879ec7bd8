"""What do the distributions of absolute values share?

Mirrors: nothing by itself; what half_normal.py and half_cauchy.py of torch/distributions repeat
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import Distribution
from glasstorch.distributions.transformed_distribution import TransformedDistribution, of_base
from glasstorch.distributions.transforms.elementwise import AbsTransform
from glasstorch.operators.generated import functions as f


class Folded(TransformedDistribution):
    """The absolute value of a number whose distribution is symmetric around 0: from 0 on, its density doubles.

    A subclass passes that distribution.
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Distribution

    scale: Tensor = of_base("scale", "The scale of the distribution before its absolute value is taken.")

    def __init__(self, symmetric: Distribution, validate_args: bool | None = None) -> None:
        super().__init__(symmetric, AbsTransform(), validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
