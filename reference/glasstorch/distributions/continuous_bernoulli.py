"""What is the continuous Bernoulli distribution?

Mirrors: torch/distributions/continuous_bernoulli.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.exp_family import ExponentialFamily
from glasstorch.distributions.probabilities import EventProbability
from glasstorch.distributions.utils import (
    Parameter,
    Sizes,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    uniform_like,
)
from glasstorch.nn.functions.loss import binary_cross_entropy_with_logits
from glasstorch.operators.generated import functions as f

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(EventProbability, ExponentialFamily):
    """Shares in [0, 1] with a density proportional to `p^x (1 - p)^(1 - x)` (Loaiza-Ganem and Cunningham, 2019).

    `probs` is this p, not a probability. Between the two numbers of `lims`, where formulas divide by nearly 0, power
    series around p = 1/2 take their place.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = ("probs", "logits")
    _shared = ("_given_by_probs", "_lims")

    def __init__(
        self,
        probs: Parameter | None = None,
        logits: Parameter | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits)
        if self._given_by_probs:
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter p, neither 0 nor 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside(self) -> Tensor:
        """Where the formulas are safe."""
        return self.probs.le(self._lims[0]) | self.probs.gt(self._lims[1])

    def _safe_probs(self) -> Tensor:
        return f.where(self._outside(), self.probs, self._lims[0])

    def _cont_bern_log_norm(self) -> Tensor:
        """The logarithm of what `p^x (1 - p)^(1 - x)` is multiplied by."""
        p = self._safe_probs()
        below, above = f.where(p <= 0.5, p, 0.0), f.where(p >= 0.5, p, 1.0)
        distance = f.where(p <= 0.5, f.log1p(-2.0 * below), f.log(2.0 * above - 1.0))
        x = (self.probs - 0.5) ** 2
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return f.where(self._outside(), (f.log1p(-p) - p.log()).abs().log() - distance, series)

    @property
    def mean(self) -> Tensor:
        p = self._safe_probs()
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x
        return f.where(self._outside(), p / (2.0 * p - 1.0) + 1.0 / (f.log1p(-p) - p.log()), series)

    @property
    def variance(self) -> Tensor:
        p = self._safe_probs()
        x = (self.probs - 0.5) ** 2
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        exact = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (f.log1p(-p) - p.log()) ** 2
        return f.where(self._outside(), exact, series)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return self.icdf(uniform_like(self.probs, self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        p = self._safe_probs()
        exact = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = f.where(self._outside(), exact, value)
        return f.where(value <= 0.0, 0.0, f.where(value >= 1.0, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._safe_probs()
        exact = (f.log1p(-p + value * (2.0 * p - 1.0)) - f.log1p(-p)) / (p.log() - f.log1p(-p))
        return f.where(self._outside(), exact, value)

    def entropy(self) -> Tensor:
        of0, of1 = f.log1p(-self.probs), self.probs.log()
        return self.mean * (of0 - of1) - self._cont_bern_log_norm() - of0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """Of the log-odds; the power series is around 0."""
        (x,) = natural_params
        low, high = (limit - 0.5 for limit in self._lims)
        outside = x.le(low) | x.gt(high)
        safe = f.where(outside, x, low)
        series = 0.5 * x + x**2 / 24.0 - x**4 / 2880.0
        return f.where(outside, safe.expm1().abs().log() - safe.abs().log(), series)
