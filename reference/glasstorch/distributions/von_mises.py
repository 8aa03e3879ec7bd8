"""What is the von Mises distribution?

Mirrors: torch/distributions/von_mises.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.dtype import bool_, float64
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.utils import Parameter, Sizes, broadcast_all, lazy_property
from glasstorch.operators.generated import functions as f

__all__ = ["VonMises"]

# Coefficients of polynomials that approximate the modified Bessel functions I_0 and I_1 (Abramowitz and Stegun 9.8.1 to
# 9.8.4): in (x / 3.75)^2 for small arguments, in 3.75 / x for large ones.
SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411),
)
LARGE = (
    (
        0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377,
    ),
    (
        0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059,
    ),
)  # fmt: skip


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Any:
    """A polynomial with these coefficients, that of x^0 first."""
    value: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = coefficient + x * value
    return value


def log_bessel(x: Tensor, order: int) -> Tensor:
    """The logarithm of the modified Bessel function of order 0 or 1, of positive numbers."""
    small = polynomial((x / 3.75) ** 2, SMALL[order])
    small = (x.abs() * small if order == 1 else small).log()
    large = x - 0.5 * x.log() + polynomial(3.75 / x, LARGE[order]).log()
    return f.where(x < 3.75, small, large)


class VonMises(Distribution):
    """An angle in [-pi, pi), near `loc`; for a large `concentration` nearly normal with variance 1 / concentration."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _batched = ("loc", "concentration")

    def __init__(self, loc: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance, `1 - I_1 / I_0`."""
        return 1 - (log_bessel(self.concentration, 1) - log_bessel(self.concentration, 0)).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        towards = self.concentration * f.cos(value - self.loc)
        return towards - math.log(2 * math.pi) - log_bessel(self.concentration, 0)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        """Draws by rejection from a wrapped Cauchy distribution (Best and Fisher, 1979), in float64."""
        with no_grad():
            loc, concentration = self.loc.to(float64), self.concentration.to(float64)
            ratio = proposal_ratio(concentration)
            x = f.empty(self._extended_shape(sample_shape), dtype=float64, device=loc.device)
            done = f.zeros_like(x, dtype=bool_)
            while not done.all():
                u1, u2, u3 = f.rand((3, *x.shape), dtype=float64, device=loc.device).unbind()
                z = f.cos(math.pi * u1)
                cosine = (1 + ratio * z) / (ratio + z)
                c = concentration * (ratio - cosine)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = f.where(accept, (u3 - 0.5).sign() * cosine.acos(), x)
                done = done | accept
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)


def proposal_ratio(concentration: Tensor) -> Tensor:
    """The parameter of the wrapped Cauchy distribution that candidates come from."""
    tau = 1 + (1 + 4 * concentration**2).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * concentration)
    ratio = (1 + rho**2) / (2 * rho)
    return f.where(concentration < 1e-5, 1 / concentration + concentration, ratio)
