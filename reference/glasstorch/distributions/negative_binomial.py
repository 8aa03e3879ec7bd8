"""What is the negative binomial distribution?

Mirrors: torch/distributions/negative_binomial.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.gamma import Gamma
from glasstorch.distributions.probabilities import EventProbability
from glasstorch.distributions.utils import Parameter, Sizes, lazy_property
from glasstorch.operators.generated import functions as f

__all__ = ["NegativeBinomial"]


class NegativeBinomial(EventProbability):
    """How many trials succeed, each with the probability `probs`, before `total_count` have failed."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _batched = ("total_count", "probs", "logits")
    _shared = ("_given_by_probs",)

    def __init__(
        self,
        total_count: Parameter,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (total_count,) = self._take(probs, logits, total_count)
        self.total_count = total_count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / f.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        # A Poisson number whose rate is a gamma number. The concentration may be 0, which `Gamma` would refuse.
        return Gamma(concentration=self.total_count, rate=f.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        with no_grad():
            return f.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n = self.total_count
        unnormalized = n * f.log_sigmoid(-self.logits) + value * f.log_sigmoid(self.logits)
        normalizer = -f.lgamma(n + value) + f.lgamma(1.0 + value) + f.lgamma(n)
        return unnormalized - normalizer.masked_fill(n + value == 0.0, 0.0)
