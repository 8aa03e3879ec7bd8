"""Which helpers do the formulas of pointwise operators call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (angle_backward, atan2_backward)
"""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

from glasstorch.autograd.formulas.shared import conjugate
from glasstorch.core.dtype import Number
from glasstorch.operators.generated.functions import eq, ge, gt, imag, le, log, lt, maximum, real, where, zeros_like

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def angle_backward(grad: Tensor, self: Tensor) -> Tensor:
    """0 for a real number; for a complex one, perpendicular to the line to the origin."""
    if not self.dtype.is_complex:
        return zeros_like(self)
    return where(eq(self, 0), 0.0, grad * 1j * self / self.abs().pow(2))


def atan2_self_backward(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """The gradient of y in `atan2(y, x)`: `x / (y^2 + x^2)`, and 0 where that would divide by 0."""
    return grad * other * inverse_square_distance(self, other)


def atan2_other_backward(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """The gradient of x in `atan2(y, x)`: `-y / (y^2 + x^2)`, and 0 where that would divide by 0."""
    return grad * -self * inverse_square_distance(self, other)


def inverse_square_distance(y: Tensor, x: Tensor) -> Tensor:
    """`1 / (y^2 + x^2)`; 0 where the squares are 0, at the origin or by underflow."""
    square = y * y + x * x
    return square.reciprocal().masked_fill(eq(square, 0), 0.0)


def not_negative(exponent: Tensor) -> Tensor:
    """Whether an exponent is real and non-negative."""
    return ge(real(exponent), 0) & eq(imag(exponent), 0) if exponent.dtype.is_complex else ge(exponent, 0)


def div_mode_self_backward(grad: Tensor, other: Tensor | Number, rounding_mode: str | None) -> Tensor:
    """The gradient of a rounded quotient is 0 almost everywhere."""
    return grad / conjugate(other) if rounding_mode is None else zeros_like(grad)


def div_mode_other_backward(grad: Tensor, self: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    """As `div_mode_self_backward`, for the divisor."""
    return -grad * conjugate((self / other) / other) if rounding_mode is None else zeros_like(grad)


def pow_backward_scalar(grad: Tensor, self: Tensor, exponent: Number) -> Tensor:
    """d/dx x^n = n x^(n-1), and 0 for n = 0 even at x = 0."""
    if exponent == 0:
        return zeros_like(self)
    return grad * conjugate(exponent * self.pow(exponent - 1))


def pow_backward_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    """d/dx x^y = y x^(y-1), and 0 where y = 0."""
    return where(eq(exponent, 0), 0.0, grad * conjugate(exponent * self.pow(exponent - 1)))


def pow_backward_exponent(grad: Tensor, self: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    """d/dy x^y = x^y log x, and 0 where x = 0 and y >= 0."""
    flat = eq(self, 0) & not_negative(exponent)
    base = self.to(result.dtype) if result.dtype.is_complex else self  # below 0 the logarithm is complex
    return grad * where(flat, 0.0, conjugate(result * log(base)))


def pow_backward_scalar_base(grad: Tensor, self: Number, exponent: Tensor, result: Tensor) -> Tensor:
    """As `pow_backward_exponent`, for a base that is a number."""
    if self == 0:
        return grad * where(not_negative(exponent), 0.0, conjugate(result * -math.inf))
    if isinstance(self, complex) or exponent.dtype.is_complex:
        return grad * conjugate(result * cmath.log(self))
    return grad * conjugate(result * (math.log(self) if self > 0 else math.nan))


def sgn_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """0 for a real sign; a complex one changes with the element's phase, in inverse proportion to its magnitude."""
    if not self.dtype.is_complex:
        return zeros_like(grad)
    size = self.abs()
    across = grad - real(grad * conjugate(result)) * result
    return where(eq(size, 0), 0.0, across / size)


def acosh_backward(grad: Tensor, self: Tensor) -> Tensor:
    """`1 / sqrt(x^2 - 1)`; of a complex number by two roots, whose product lies on the right branch."""
    if not self.dtype.is_complex:
        return grad * (self * self - 1).rsqrt()
    return grad * conjugate((self + 1).rsqrt() * (self - 1).rsqrt())


def extremum_share(grad: Tensor, self: Tensor, other: Tensor, loses: Tensor) -> Tensor:
    """The gradient of one operand: 0 where the other wins, half where both are equal, all where either is NaN."""
    return where(eq(self, other), grad / 2, where(loses, 0.0, grad))


def clamp_backward(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    """The gradient where the value was within the bounds, inclusive."""
    if min is None and max is None:
        return grad
    inside = None if min is None else ge(self, min)
    if max is not None:
        below = le(self, max)
        inside = below if inside is None else inside & below
    return where(inside, grad, 0.0)


def clamp_backward_min_max(grad: Tensor, self: Tensor, min: Tensor | None, max: Tensor | None) -> tuple[Any, Any]:
    """The gradient of a bound where it was the result; if min exceeds max, max is the result."""
    grad_min = grad_max = None
    if min is not None and max is not None:
        grad_min = where(lt(self, min) & lt(min, max), grad, 0.0)
        grad_max = where(gt(self, max) | lt(max, min), grad, 0.0)
    elif min is not None:
        grad_min = where(lt(self, min), grad, 0.0)
    elif max is not None:
        grad_max = where(gt(self, max), grad, 0.0)
    return grad_min, grad_max


def copysign_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient with the sign change of the element; 0 at 0. (PyTorch: copysign_tensor_self_backward)"""
    return grad * where(eq(self, 0), 0.0, result / self)


def real_if(result: Tensor, tangent: Tensor) -> Tensor:
    """The tangent of a result: its real part, where the result is real."""
    return real(tangent) if tangent.dtype.is_complex and not result.dtype.is_complex else tangent


def clamp_tangent(self: Tensor, self_t: Tensor, min: Any, min_t: Any, max: Any, max_t: Any) -> Tensor:
    """The tangent of the tensor or of the bound that holds it."""
    tangent = self_t
    if min is not None:
        tangent = where(lt(self, min), min_t, tangent)
    if max is not None:
        at = self if min is None else maximum(self, min)
        tangent = where(gt(at, max), max_t, tangent)
    return tangent


def extremum_tangent(self: Tensor, other: Tensor, self_t: Tensor, other_t: Tensor, wins: Tensor) -> Tensor:
    """The tangent of the larger (or smaller) element; of equal ones, the mean."""
    share = where(eq(self, other), 0.5, wins.to(self_t.dtype))
    return other_t + share * (self_t - other_t)
