"""Of what are operators of elements made that have no row in the table of formulas?

Mirrors: torch/_decomp/decompositions.py (lerp, nan_to_num, logaddexp, xlogy), torch/_refs/__init__.py (frac, heaviside,
    isneginf, rsub), torch/_refs/special/__init__.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, in_float32
from glasstorch.compiler.decompositions.table import by_kernel, decomposes
from glasstorch.core.dtype import Number, bool_, get_default_dtype, int64
from glasstorch.core.type_info import finfo
from glasstorch.operators.generated import functions as f

Dims = Sequence[int]


def _floating(self: Tensor) -> Tensor:
    """Integers as floats, which functions of calculus give."""
    return self if self.dtype.is_floating_point or self.dtype.is_complex else self.to(get_default_dtype())


@decomposes("lerp.Tensor")
@in_float32
def lerp(self: Tensor, end: Tensor, weight: Tensor) -> Tensor:
    """From self to end, by a weight for each element; computed from the nearer end."""
    near = f.abs(weight) < 0.5
    return f.where(near, self, end) + f.where(near, weight, weight - 1) * (end - self)


@decomposes("clamp_min")
def clamp_min(self: Tensor, min: Number) -> Tensor:
    """At least a number."""
    return f.clamp(self, min=min)


@decomposes("clamp_min.Tensor")
def clamp_min_tensor(self: Tensor, min: Tensor) -> Tensor:
    """At least the elements of another tensor."""
    return f.maximum(self, min)


@decomposes("clamp_max")
def clamp_max(self: Tensor, max: Number) -> Tensor:
    """At most a number."""
    return f.clamp(self, max=max)


@decomposes("clamp_max.Tensor")
def clamp_max_tensor(self: Tensor, max: Tensor) -> Tensor:
    """At most the elements of another tensor."""
    return f.minimum(self, max)


@decomposes("floor_divide.Scalar")
def floor_divide_number(self: Tensor, other: Number) -> Tensor:
    """The quotient by a number, rounded down."""
    return f.div(self, other, rounding_mode="floor")


@decomposes("rsub.Tensor", "rsub.Scalar")
def rsub(self: Tensor, other: Any, alpha: Number = 1) -> Tensor:
    """other - alpha * self."""
    return f.sub(other, self, alpha=alpha)


by_kernel("deg2rad", "rad2deg")
by_kernel("mvlgamma")


@decomposes("frac")
def frac(self: Tensor) -> Tensor:
    """What is left of a number without its whole part."""
    return self - f.trunc(self)


@decomposes("heaviside")
def heaviside(self: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above, and `values` at 0; NaN gives 0."""
    zeros, ones = f.full_like(self, 0), f.full_like(self, 1)
    return f.where(self == 0, values, f.where(self < 0, zeros, f.where(f.isnan(self), zeros, ones)))


@decomposes("isneginf")
def isneginf(self: Tensor) -> Tensor:
    """Whether an element is -inf."""
    return self == -math.inf if self.dtype.is_floating_point else f.full_like(self, 0, dtype=bool_)


@decomposes("isposinf")
def isposinf(self: Tensor) -> Tensor:
    """Whether an element is inf."""
    return self == math.inf if self.dtype.is_floating_point else f.full_like(self, 0, dtype=bool_)


@decomposes("nan_to_num")
def nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Numbers in place of NaN and infinities."""
    if not self.dtype.is_floating_point:
        return f.clone(self)
    limits = finfo(self.dtype)
    found = f.where(f.isnan(self), 0.0 if nan is None else nan, self)
    found = f.where(self == -math.inf, limits.min if neginf is None else neginf, found)
    return f.where(self == math.inf, limits.max if posinf is None else posinf, found)


@decomposes("logaddexp")
@in_float32
def logaddexp(self: Tensor, other: Tensor) -> Any:
    """log(exp(a) + exp(b)), computed from the greater."""
    if self.dtype.is_complex or other.dtype.is_complex:
        return NotImplemented  # of complex numbers none is the greater: the operator stays
    difference = -f.abs(self - other)
    most = f.maximum(self, other)
    same = f.logical_and(f.isinf(self), self == other)
    return f.where(same, self, most + f.log1p(f.exp(difference)))


@decomposes("logaddexp2", fuses=False)
@in_float32
def logaddexp2(self: Tensor, other: Tensor) -> Tensor:
    """The same to the base 2."""
    difference = -f.abs(self - other)
    most = f.maximum(self, other)
    same = f.logical_and(f.isinf(self), self == other)
    return f.where(same, self, most + f.log1p(f.exp2(difference)) * (1 / math.log(2)))


@decomposes("sinc")
@in_float32
def sinc(self: Tensor) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""
    x = math.pi * self
    return f.where(x == 0, 1, f.sin(x) / x)


@decomposes("special_entr")
@in_float32
def entr(self: Tensor) -> Tensor:
    """-x log(x); 0 at 0, and -inf below."""
    x = _floating(self)
    return f.where(f.isnan(x), x, f.where(x > 0, -x * f.log(x), f.where(x == 0, 0, -math.inf)))


@decomposes("special_log_ndtr", fuses=False)
@in_float32
def log_ndtr(self: Tensor) -> Tensor:
    """The logarithm of the normal distribution; far below 0, from erfc scaled."""
    x = _floating(self)
    t = x * math.sqrt(0.5)
    return f.where(x < 1.0, f.log(f.special_erfcx(-t) / 2) - t * t, f.log1p(-f.erfc(t) / 2))


@decomposes("special_xlog1py.self_scalar", "special_xlog1py.other_scalar")
@decomposes("special_xlog1py")
@in_float32
def xlog1py(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """x log(1 + y), and 0 where x is 0, unless y is NaN."""
    x, y = _two(self, other)
    return f.where(f.isnan(y), math.nan, f.where(x == 0, 0, x * f.log1p(y)))


@decomposes("xlogy.Scalar_Self", "xlogy.Scalar_Other")
@decomposes("xlogy.Tensor")
@in_float32
def xlogy(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """x log(y), and 0 where x is 0, unless y is NaN."""
    x, y = _two(self, other)
    return f.where(f.isnan(y), math.nan, f.where(x == 0, 0, x * f.log(y)))


def _two(self: Any, other: Any) -> tuple[Any, Any]:
    """Two tensors, of which a number was one."""
    if isinstance(self, bool | int | float | complex):
        return f.scalar_tensor(self, dtype=_floating(other).dtype, device=other.device), other
    if isinstance(other, bool | int | float | complex):
        return self, f.scalar_tensor(other, dtype=_floating(self).dtype, device=self.device)
    return self, other


@decomposes("masked_fill.Tensor")
def masked_fill_tensor(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """One element in place of those that the mask marks."""
    return f.where(mask, cast(value, self.dtype), self)


@decomposes("isin.Tensor_Tensor")
def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element is one of others."""
    found = f.any(elements.unsqueeze(-1) == test_elements.reshape(-1), -1)
    return f.logical_not(found) if invert else found


@decomposes("isin.Tensor_Scalar")
def isin_number(elements: Tensor, test_element: Number, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element is a number."""
    return f.ne(elements, test_element) if invert else f.eq(elements, test_element)


@decomposes("isin.Scalar_Tensor")
def number_isin(element: Number, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether a number is one of others."""
    found = f.any(test_elements == element)
    return f.logical_not(found) if invert else found


@decomposes("linalg_cross", fuses=False)
def cross(self: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of three elements."""
    a, b = f.broadcast_tensors([self, other])
    dim = dim % a.dim()
    next_ = (f.arange(3, device=a.device, dtype=int64) + 1) % 3
    after = (next_ + 1) % 3
    first = f.index_select(a, dim, next_) * f.index_select(b, dim, after)
    return first - f.index_select(a, dim, after) * f.index_select(b, dim, next_)
