"""What is the binomial distribution?

Mirrors: torch/distributions/binomial.py
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.probabilities import EventProbability
from glasstorch.distributions.utils import Parameter, Sizes, all_values
from glasstorch.operators.generated import functions as f

__all__ = ["Binomial"]


class Binomial(EventProbability):
    """How many of `total_count` trials succeed, each with the probability `probs`."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _batched = ("total_count", "probs", "logits")
    _shared = ("_given_by_probs",)

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (total_count,) = self._take(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return f.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n, logits = self.total_count, self.logits
        # n log(1 + exp(logits)), where the exponential of a large number is never taken. Half of the sum of the two
        # bounds is max(logits, 0) with half the gradient at 0.
        positive_part = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        normalizer = n * positive_part + n * f.log1p(f.exp(-logits.abs())) - f.lgamma(n + 1)
        return value * logits - f.lgamma(value + 1) - f.lgamma(n - value + 1) - normalizer

    def _one_count(self, asked: str) -> int:
        count = int(self.total_count.max())
        if not (self.total_count == count).all():
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asked}`.")
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        return all_values(self, f.arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand)
