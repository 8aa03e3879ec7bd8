"""Which pairs are infinitely far apart, because the second excludes what the first may draw?

Mirrors: torch/distributions/kl.py (_infinite_like and the pairs registered for it)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions.bernoulli import Bernoulli
from glasstorch.distributions.beta import Beta
from glasstorch.distributions.binomial import Binomial
from glasstorch.distributions.continuous_bernoulli import ContinuousBernoulli
from glasstorch.distributions.exponential import Exponential
from glasstorch.distributions.gamma import Gamma
from glasstorch.distributions.gumbel import Gumbel
from glasstorch.distributions.kl.dispatch import register_kl
from glasstorch.distributions.laplace import Laplace
from glasstorch.distributions.normal import Normal
from glasstorch.distributions.pareto import Pareto
from glasstorch.distributions.poisson import Poisson
from glasstorch.distributions.uniform import Uniform
from glasstorch.operators.generated.functions import full_like

BOUNDED = (Beta, ContinuousBernoulli, Uniform)
# For each class, the parameter whose shape and dtype the result has, and the classes that exclude some of its draws.
EXCLUDED: dict[type, tuple[str, tuple[type, ...]]] = {
    Beta: ("concentration1", (Pareto,)),
    ContinuousBernoulli: ("probs", (Pareto,)),
    Exponential: ("rate", (*BOUNDED, Pareto)),
    Gamma: ("concentration", (*BOUNDED, Pareto)),
    Gumbel: ("loc", (*BOUNDED, Pareto, Exponential, Gamma)),
    Laplace: ("loc", (*BOUNDED, Pareto, Exponential, Gamma)),
    Normal: ("loc", (*BOUNDED, Pareto, Exponential, Gamma)),
    Pareto: ("scale", BOUNDED),
    Poisson: ("rate", (Bernoulli, Binomial)),
}


def infinite(parameter: str) -> Callable[[Any, Any], Tensor]:
    """A divergence that is infinite, in the shape of a parameter."""

    def kl_infinite(p: Any, q: Any) -> Tensor:
        return full_like(getattr(p, parameter), math.inf)

    return kl_infinite


for _type_p, (_parameter, _types_q) in EXCLUDED.items():
    for _type_q in _types_q:
        register_kl(_type_p, _type_q)(infinite(_parameter))
