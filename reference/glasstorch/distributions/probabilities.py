"""How is a distribution given either by probabilities or by logits?

Mirrors: nothing by itself; what bernoulli.py, binomial.py, geometric.py, continuous_bernoulli.py, negative_binomial.py
    and relaxed_bernoulli.py of torch/distributions repeat
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import Size
from glasstorch.distributions.distribution import Distribution
from glasstorch.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

EITHER = "Either `probs` or `logits` must be specified, but not both."


def require_one(probs: object, logits: object) -> None:
    """Refuse two parameters for one thing, and none."""
    if (probs is None) == (logits is None):
        raise ValueError(EITHER)


class EventProbability(Distribution):
    """A distribution that depends on the probability of an event: `probs`, or its log-odds, `logits`.

    The one that is given is an attribute; the other is computed where it is asked for.
    """

    _given_by_probs: bool

    def _take(self, probs: Any, logits: Any, *beside: Any) -> list[Tensor]:
        """Keep the parameter that is given, broadcast with others; returns these."""
        require_one(probs, logits)
        self._given_by_probs = logits is None
        *others, parameter = broadcast_all(*beside, probs if self._given_by_probs else logits)
        setattr(self, "probs" if self._given_by_probs else "logits", parameter)
        return others

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds of the event."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of the event."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self) -> Tensor:
        """The parameter that was given."""
        return self.__dict__["probs"] if self._given_by_probs else self.__dict__["logits"]  # type: ignore[no-any-return]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()  # type: ignore[no-any-return]

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)
