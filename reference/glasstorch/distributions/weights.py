"""How does a distribution of vectors take its weights from a categorical one?

Mirrors: nothing by itself; what one_hot_categorical.py, multinomial.py and relaxed_categorical.py of
    torch/distributions repeat
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import Size
from glasstorch.distributions.categorical import Categorical
from glasstorch.distributions.distribution import Distribution


class ByCategory(Distribution):
    """A distribution of vectors with an element for each category of a categorical distribution."""

    _categorical: Categorical

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Size:
        """The shape of the weights."""
        return self._categorical.param_shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)
