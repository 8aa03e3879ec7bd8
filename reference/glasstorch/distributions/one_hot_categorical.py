"""What is a categorical distribution of vectors with a single one?

Mirrors: torch/distributions/one_hot_categorical.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.categorical import Categorical
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.utils import Sizes
from glasstorch.distributions.weights import ByCategory
from glasstorch.operators.generated import functions as f

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(ByCategory):
    """A vector with 1 at an index that is drawn as by `Categorical`, and 0 elsewhere."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _batched = ("_categorical",)

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return f.one_hot(self.probs.argmax(dim=-1), self._categorical._num_events).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return f.one_hot(self._categorical.sample(sample_shape), self._categorical._num_events).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = f.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n, *[1] * len(self.batch_shape), n))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same distribution, whose draws pass their gradient straight to the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
