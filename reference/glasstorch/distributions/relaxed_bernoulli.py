"""What is the relaxed Bernoulli distribution?

Mirrors: torch/distributions/relaxed_bernoulli.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.probabilities import EventProbability
from glasstorch.distributions.transformed_distribution import TransformedDistribution, of_base
from glasstorch.distributions.transforms.elementwise import SigmoidTransform
from glasstorch.distributions.utils import Parameter, Sizes, broadcast_all, clamp_probs, uniform_like

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(EventProbability):
    """The log-odds of a relaxed Bernoulli number: a logistic number moved by `logits` and divided by `temperature`."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _batched = ("probs", "logits")
    _shared = ("_given_by_probs", "temperature")

    def __init__(
        self,
        temperature: Tensor,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        uniforms = clamp_probs(uniform_like(probs, shape))
        return (uniforms.log() - (-uniforms).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return self.temperature.log() + difference - 2 * difference.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Shares in (0, 1) that come the closer to a Bernoulli number the lower the temperature, and are differentiable.

    This is the binary Concrete distribution (Maddison and others, 2016; Jang and others, 2016).
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli
    _batched = ()

    temperature: Tensor = of_base("temperature", "How far draws are from 0 and 1.")
    logits: Tensor = of_base("logits", "The log-odds of 1.")
    probs: Tensor = of_base("probs", "The probability of 1.")

    def __init__(
        self,
        temperature: Tensor,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)
