"""Which transforms act on each element by itself?

Mirrors: torch/distributions/transforms.py (AbsTransform, AffineTransform, CumulativeDistributionTransform,
    ExpTransform, PowerTransform, SigmoidTransform, SoftplusTransform, TanhTransform)
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import Size, broadcast_shapes
from glasstorch.core.type_info import finfo
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import Distribution
from glasstorch.distributions.transforms.transform import Transform, WithoutParameters
from glasstorch.distributions.utils import Parameter, broadcast_all, is_number, lazy_property
from glasstorch.operators.generated import functions as f


class Increasing(WithoutParameters):
    """A bijection of the real numbers that increases."""

    domain = constraints.real
    bijective = True
    sign = +1


class ExpTransform(Increasing):
    """`y = exp(x)`."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def clipped_sigmoid(x: Tensor) -> Tensor:
    """The logistic function, kept away from 0 and 1."""
    return clipped(x.sigmoid())


def clipped(y: Tensor) -> Tensor:
    """Shares that are neither 0 nor 1: from the smallest normal number to one rounding error below 1."""
    limits = finfo(y.dtype)
    return y.clamp(min=limits.tiny, max=1.0 - limits.eps)


class SigmoidTransform(Increasing):
    """`y = 1 / (1 + exp(-x))`, and its inverse, the log-odds."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        y = clipped(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -f.softplus(-x) - f.softplus(x)


class SoftplusTransform(Increasing):
    """`y = log(1 + exp(x))`, which is x itself above 20."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return f.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -f.softplus(-x)


class TanhTransform(Increasing):
    """`y = tanh(x)`. Near 1 a cache keeps what the inverse would lose."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh(x)^2), without a difference of numbers that are nearly equal
        return 2.0 * (math.log(2.0) - x - f.softplus(-2.0 * x))


class AbsTransform(WithoutParameters):
    """`y = |x|`, which is no bijection: the inverse gives `y`."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """`y = x ** exponent`, of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Parameter, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @lazy_property
    def sign(self) -> Any:
        """The exponent's."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = None

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Size) -> Size:
        return Size(broadcast_shapes(shape, self.exponent.shape))

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """`y = loc + scale * x`, with parameters for each element of an event of `event_dim` dimensions."""

    bijective = True

    def __init__(self, loc: Parameter, scale: Parameter, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        """The number of dimensions of an event."""
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Real numbers, or tensors of them."""
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and equal(self.loc, other.loc) and equal(self.scale, other.scale)

    __hash__ = None

    @property
    def sign(self) -> Any:
        """The scale's."""
        return self.scale.sign() if isinstance(self.scale, Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        shape: tuple[int, ...] = x.shape
        scale = self.scale
        result = scale.abs().log() if isinstance(scale, Tensor) else f.full_like(x, math.log(abs(scale)))
        if self.event_dim:
            result = result.reshape((*result.shape[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Size) -> Size:
        sizes = [getattr(parameter, "shape", ()) for parameter in (self.loc, self.scale)]
        return Size(broadcast_shapes(shape, *sizes))

    inverse_shape = forward_shape


def equal(one: Parameter, other: Parameter) -> bool:
    """Whether two parameters, numbers or tensors, are equal in every element."""
    if is_number(one) and is_number(other):
        return one == other  # type: ignore[return-value]
    return bool((one == other).all())  # type: ignore[union-attr]


class CumulativeDistributionTransform(Transform):
    """The distribution function of a distribution: a share for each value, and the value for each share."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
