"""What is the generalized Pareto distribution?

Mirrors: torch/distributions/generalized_pareto.py
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.utils import Parameter, Sizes, broadcast_all, uniform_like
from glasstorch.operators.generated import functions as f

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold `loc`.

    The tail is a power law for a positive `concentration`, exponential for 0, and ends for a negative one.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _batched = ("loc", "scale", "concentration")

    def __init__(
        self, loc: Parameter, scale: Parameter, concentration: Parameter, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        lower = self.loc
        upper = f.where(self.concentration < 0, lower - self.scale / self.concentration, math.inf)
        return constraints.interval(lower, upper)

    @property
    def mean(self) -> Tensor:
        """nan from concentration 1 on."""
        valid = self.concentration < 1
        safe = f.where(valid, self.concentration, 0.5)
        return f.where(valid, self.loc + self.scale / (1 - safe), math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """nan from concentration 1/2 on."""
        valid = self.concentration < 0.5
        safe = f.where(valid, self.concentration, 0.25)
        return f.where(valid, self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.nan)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return self.icdf(uniform_like(self.loc, self._extended_shape(sample_shape)))

    def _exponential(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and concentrations that may be divided by."""
        zero = f.isclose(self.concentration, f.zeros_like(self.concentration))
        return zero, f.where(zero, 1.0, self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        z = (value - self.loc) / self.scale
        zero, safe = self._exponential()
        y = 1 / safe + f.ones_like(z)
        power = f.where(y == 0, y, y * f.log1p(safe * z))
        return -self.scale.log() - f.where(zero, z, power)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a draw above the value."""
        self._check_value(value)
        z = (value - self.loc) / self.scale
        zero, safe = self._exponential()
        return f.where(zero, -z, -f.log1p(safe * z) / safe)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a draw up to the value."""
        return f.log1p(-f.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        zero, safe = self._exponential()
        left = f.log1p(-value)
        return f.where(zero, self.loc - self.scale * left, self.loc + self.scale / safe * f.expm1(-safe * left))

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
