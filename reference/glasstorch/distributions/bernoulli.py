"""What is the Bernoulli distribution?

Mirrors: torch/distributions/bernoulli.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.exp_family import ExponentialFamily
from glasstorch.distributions.probabilities import EventProbability
from glasstorch.distributions.utils import Parameter, Sizes, all_values, broadcast_all
from glasstorch.nn.functions.loss import binary_cross_entropy_with_logits
from glasstorch.operators.generated import functions as f

__all__ = ["Bernoulli"]


class Bernoulli(EventProbability, ExponentialFamily):
    """1 with the probability `probs`, else 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _batched = ("probs", "logits")
    _shared = ("_given_by_probs",)

    def __init__(
        self,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        """nan where both are equally likely."""
        return f.where(self.probs == 0.5, math.nan, (self.probs >= 0.5).to(self.probs))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        with no_grad():
            return f.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return all_values(self, f.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (f.logit(self.probs),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return natural_params[0].exp().log1p()
