"""What is the categorical distribution?

Mirrors: torch/distributions/categorical.py
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import int64
from glasstorch.core.geometry import Size
from glasstorch.core.type_info import finfo
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.probabilities import require_one
from glasstorch.distributions.utils import (
    Sizes,
    all_values,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from glasstorch.operators.generated import functions as f

__all__ = ["Categorical"]


class Categorical(Distribution):
    """An index from 0 to K - 1, drawn with weights `probs`, or `logits`, in the last dimension.

    The weights are normalized: `probs` sum to 1, and so do the exponentials of `logits`.

    >>> import glasstorch as torch
    >>> Categorical(torch.tensor([1.0, 1.0, 2.0])).probs
    tensor([0.2500, 0.2500, 0.5000])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _batched = ("probs", "logits")
    _shared = ("_num_events", "_given_by_probs")

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        require_one(probs, logits)
        self._given_by_probs = probs is not None
        for name, weights in (("probs", probs), ("logits", logits)):
            if weights is not None and weights.dim() < 1:
                raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        elif logits is not None:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _param(self) -> Tensor:
        """The parameter that was given."""
        return self.probs if self._given_by_probs else self.logits

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @property
    def param_shape(self) -> Size:
        """The shape of the weights."""
        return self._param.size()  # type: ignore[no-any-return]

    @property
    def mean(self) -> Tensor:
        """nan, as categories have no mean."""
        return f.full(self._batch_shape, math.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        """nan."""
        return self.mean

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        flat = self.probs.reshape(-1, self._num_events)
        drawn = f.multinomial(flat, Size(sample_shape).numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        index, logits = broadcast_all(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)  # so that 0 * log(0) is 0
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return all_values(self, f.arange(self._num_events, dtype=int64, device=self._param.device), expand)
