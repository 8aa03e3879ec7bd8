"""What is the relaxed categorical distribution?

Mirrors: torch/distributions/relaxed_categorical.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.categorical import Categorical
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.transformed_distribution import TransformedDistribution, of_base
from glasstorch.distributions.transforms.elementwise import ExpTransform
from glasstorch.distributions.utils import Sizes, broadcast_all, clamp_probs, uniform_like
from glasstorch.distributions.weights import ByCategory
from glasstorch.operators.generated import functions as f

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(ByCategory):
    """The logarithms of relaxed one-hot vectors: normalized sums of `logits` and Gumbel numbers, over `temperature`."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # those whose exponentials sum to 1
    has_rsample = True
    _batched = ("_categorical",)
    _shared = ("temperature",)

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        uniforms = clamp_probs(uniform_like(self.logits, self._extended_shape(sample_shape)))
        gumbels = -((-(uniforms.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        count = self._categorical._num_events
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        constant = f.full_like(self.temperature, float(count)).lgamma() + self.temperature.log() * (count - 1)
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + constant  # type: ignore[no-any-return]


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares that come the closer to a one-hot vector the lower the temperature, and are differentiable.

    This is the Concrete or Gumbel-softmax distribution (Maddison and others, 2016; Jang and others, 2016).
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical
    _batched = ()

    temperature: Tensor = of_base("temperature", "How far draws are from one-hot vectors.")
    logits: Tensor = of_base("logits", "The logarithms of the probabilities.")
    probs: Tensor = of_base("probs", "The probabilities.")

    def __init__(
        self,
        temperature: Tensor,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
