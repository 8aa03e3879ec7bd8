"""Which function computes the divergence of two distributions?

Mirrors: torch/distributions/kl.py (register_kl, kl_divergence, _dispatch_kl)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.distributions.distribution import Distribution

Pair = tuple[type, type]
Divergence = TypeVar("Divergence", bound=Callable[[Any, Any], Tensor])

KL_REGISTRY: dict[Pair, Callable[[Any, Any], Tensor]] = {}
_chosen: dict[Pair, Callable[[Any, Any], Tensor] | None] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Divergence], Divergence]:
    """A decorator: the function computes the divergence for these two classes, and for their subclasses.

    They need not be distributions: a class that several distributions inherit from will do.
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def decorator(function: Divergence) -> Divergence:
        KL_REGISTRY[type_p, type_q] = function
        _chosen.clear()
        return function

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence KL(p || q): the mean of `log p(x) - log q(x)` over draws x of p.

    It is 0 for equal distributions and infinite where q excludes what p may draw. The result has the batch shape.

    >>> from glasstorch.distributions import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    pair = type(p), type(q)
    if pair not in _chosen:
        _chosen[pair] = _choose(*pair)
    function = _chosen[pair]
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return function(p, q)


def _choose(type_p: type, type_q: type) -> Callable[[Any, Any], Tensor] | None:
    """The function of the nearest registered classes; a warning where another is nearest for q than for p."""
    matches = [pair for pair in KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not matches:
        return None

    def distance(first: int) -> Callable[[Pair], tuple[int, int]]:
        """How far up the classes are, for one of the distributions first."""
        lines = type_p.__mro__, type_q.__mro__
        return lambda pair: (lines[first].index(pair[first]), lines[1 - first].index(pair[1 - first]))

    nearest_p, nearest_q = min(matches, key=distance(0)), min(matches, key=distance(1))
    if KL_REGISTRY[nearest_p] is not KL_REGISTRY[nearest_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({nearest_p[0].__name__}, {nearest_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return KL_REGISTRY[nearest_p]
