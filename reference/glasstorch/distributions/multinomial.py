"""What is the multinomial distribution?

Mirrors: torch/distributions/multinomial.py
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.binomial import Binomial
from glasstorch.distributions.categorical import Categorical
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.utils import Sizes, broadcast_all
from glasstorch.distributions.weights import ByCategory
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import tensor

__all__ = ["Multinomial"]


class Multinomial(ByCategory):
    """How often each category occurs in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _batched = ("_categorical",)
    _shared = ("total_count",)

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        return counts.scatter_add_(-1, drawn, f.ones_like(drawn)).type_as(self.probs)

    def entropy(self) -> Tensor:
        n = tensor(self.total_count)
        binomial = Binomial(total_count=self.total_count, probs=self.probs)
        # Each count by itself is binomial: the mean of log(count!) is a sum over its values.
        support = binomial.enumerate_support(expand=False)[1:]
        of_factorials = (binomial.log_prob(support).exp() * f.lgamma(support + 1)).sum([0, -1])
        return n * self._categorical.entropy() - f.lgamma(n + 1) + of_factorials

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        logits = f.where((value == 0) & (logits == -math.inf), 0.0, logits)  # so that 0 * log(0) is 0
        orders = f.lgamma(value.sum(-1) + 1) - f.lgamma(value + 1).sum(-1)
        return orders + (logits * value).sum(-1)
