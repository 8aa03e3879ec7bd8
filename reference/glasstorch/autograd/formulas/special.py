"""Which helpers do the formulas of special functions call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (i1_backward, i1e_backward, mvlgamma_backward, sinc_backward,
    infinitely_differentiable_logit_backward)
Differs: Python, composed of operators. logit has only the backward that can be differentiated again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from glasstorch.calls.arguments import NUMBERS
from glasstorch.core.type_info import finfo
from glasstorch.operators.generated.functions import arange, cos, digamma, i0, sgn, sin, special_i0e, where

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def zero_where_empty(grad: Tensor, self: Tensor, other: Any, bound: float) -> Tensor:
    """The gradient of x in `x log(y)`; 0 where x is 0 and y, a tensor or a number, is at most `bound`."""
    if type(other) in NUMBERS:
        return grad if other > bound else grad.masked_fill(self == 0.0, 0.0)
    return grad.masked_fill((self == 0.0) & (other <= bound), 0.0)


def not_tiny(self: Tensor) -> tuple[Tensor, Tensor]:
    """A mask of the elements that are safe to divide by, and the elements with all others replaced."""
    smallest = finfo(self.dtype).eps
    safe = self.abs() > smallest
    return safe, where(safe, self, smallest)


def i1_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """`i0(x) - i1(x) / x`, and 1/2 at 0."""
    safe, x = not_tiny(self)
    return grad * where(safe, i0(x) - result / x, 0.5)


def i1e_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """`i0e(x) - i1e(x) (sgn(x) + 1 / x)`, and 1/2 at 0."""
    safe, x = not_tiny(self)
    return grad * where(safe, special_i0e(x) - result * (sgn(x) + x.reciprocal()), 0.5)


def mvlgamma_backward(grad: Tensor, self: Tensor, p: int) -> Tensor:
    """The sum of digamma over the p points of mvlgamma."""
    steps = arange(-p / 2 + 0.5, 0.5, 0.5, dtype=self.dtype, device=self.device)
    return grad * digamma(self.unsqueeze(-1) + steps).sum(-1)


def sinc_backward(grad: Tensor, self: Tensor) -> Tensor:
    """`(pi x cos(pi x) - sin(pi x)) / (pi x^2)`; 0 where the divisor is 0, at 0 or by underflow."""
    turned, divisor = self * math.pi, self * self * math.pi
    slope = (cos(turned) * turned - sin(turned)) / divisor
    slope = slope.conj() if self.dtype.is_complex else slope
    return where(divisor == 0.0, 0.0, grad * slope)


def logit_backward(grad: Tensor, self: Tensor, eps: float | None) -> Tensor:
    """`1 / (x (1 - x))` within the bounds; outside them 0 with an eps, NaN without."""
    low, outside = (0.0, math.nan) if eps is None else (eps, 0.0)
    return where((self >= low) & (self <= 1 - low), grad / (self * (1 - self) + 0.0), outside)  # not by -0
