"""Which special functions are composed of others, or accept a number in place of a tensor?

Mirrors: aten/src/ATen/native/UnaryOps.cpp (special_ndtr, mvlgamma, polygamma_), BinaryOps.cpp (xlogy, special_xlog1py,
    special_zeta, special_chebyshev_polynomial_t)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATING, bool_, get_default_dtype
from glasstorch.core.errors import ArgumentError, DtypeError
from glasstorch.operators.composite.with_number import with_number
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated.functions import arange, erf, lgamma

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# A number in place of a tensor ----------------------------------------------------------------------------------

xlogy = with_number("xlogy.Tensor")
xlog1py = with_number("special_xlog1py")
zeta = with_number("special_zeta")
chebyshev_polynomial_t = with_number("special_chebyshev_polynomial_t")
chebyshev_polynomial_u = with_number("special_chebyshev_polynomial_u")
chebyshev_polynomial_v = with_number("special_chebyshev_polynomial_v")
chebyshev_polynomial_w = with_number("special_chebyshev_polynomial_w")
hermite_polynomial_h = with_number("special_hermite_polynomial_h")
hermite_polynomial_he = with_number("special_hermite_polynomial_he")
laguerre_polynomial_l = with_number("special_laguerre_polynomial_l")
legendre_polynomial_p = with_number("special_legendre_polynomial_p")
shifted_chebyshev_polynomial_t = with_number("special_shifted_chebyshev_polynomial_t")
shifted_chebyshev_polynomial_u = with_number("special_shifted_chebyshev_polynomial_u")
shifted_chebyshev_polynomial_v = with_number("special_shifted_chebyshev_polynomial_v")
shifted_chebyshev_polynomial_w = with_number("special_shifted_chebyshev_polynomial_w")

# Composed of several --------------------------------------------------------------------------------------------


def ndtr(self: Tensor) -> Tensor:
    """The cumulative distribution function of the standard normal distribution."""
    return (1 + erf(self * math.sqrt(0.5))) * 0.5


def mvlgamma(self: Tensor, p: int) -> Tensor:
    """The log of the multivariate gamma function of dimension p, as a sum of p values of lgamma."""
    if self.dtype is bool_:
        raise DtypeError("The input tensor may not be a boolean tensor. Expected floating point numbers or integers")
    if p < 1:
        raise ArgumentError(f"p has to be greater than or equal to 1, got p = {p}")
    dtype = self.dtype if self.dtype.category >= FLOATING else get_default_dtype()
    steps = arange(-p / 2 + 0.5, 0.5, 0.5, dtype=dtype, device=self.device)
    return lgamma(self.unsqueeze(-1) + steps).sum(-1) + p * (p - 1) * math.log(math.pi) / 4


polygamma_out = on_tensors("polygamma.out")


def polygamma_(self: Tensor, n: int) -> Tensor:
    """`polygamma` in place."""
    return polygamma_out(n, self, self)
