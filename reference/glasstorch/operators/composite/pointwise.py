"""Which pointwise operators are composed of others?

Mirrors: aten/src/ATen/native/BinaryOps.cpp (rsub), aten/src/ATen/native/TensorCompare.cpp
    (where, isnan, isreal, isclose, allclose), aten/src/ATen/native/UnaryOps.cpp (positive, deg2rad, rad2deg),
    aten/src/ATen/native/Pow.cpp (float_power)
Differs: `rsub` is one function for both overloads and every backend.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from glasstorch.core import hooks
from glasstorch.core.dtype import (
    FLOATING,
    HALF_PRECISION,
    Number,
    bool_,
    complex128,
    dtype,
    float8_e4m3fn,
    float64,
    get_default_dtype,
)
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.direct import factory, on_pair, on_tensors
from glasstorch.operators.generated.functions import ones_like, pow, zeros_like
from glasstorch.operators.generated.functions import where as where_self
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

masked_fill = on_tensors("masked_fill.Scalar")
scalar_tensor = factory("scalar_tensor")
sub = on_pair("sub.Tensor")
KINDS: Final = (bool, int, float, complex)  # of numbers, by the category of a dtype


def rsub(self: Tensor, other: Tensor | Number, alpha: Number = 1) -> Tensor:
    """`other - alpha * self`."""
    return sub(_tensor(other), self, alpha)


def positive(self: Tensor) -> Tensor:
    """The tensor itself."""
    if self.dtype is bool_:
        raise DtypeError("The `+` operator, on a bool tensor is not supported.")
    return self


def isnan(self: Tensor) -> Tensor:
    """Only NaN differs from itself."""
    return self != self


def isinf(self: Tensor) -> Tensor:
    """Integers never are; a complex number is infinite if either part is."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        return zeros_like(self, dtype=bool_)
    _check_has_infinity(self, "isinf")
    infinite = self.abs() == float("inf")
    return infinite & ~isfinite(self) if self.dtype.is_complex else infinite  # abs() of a finite one may overflow


def isfinite(self: Tensor) -> Tensor:
    """Integers always are; a complex number is finite if both parts are."""
    if self.dtype.is_complex:
        return isfinite(self.real) & isfinite(self.imag)
    if not self.dtype.is_floating_point:
        return ones_like(self, dtype=bool_)
    _check_has_infinity(self, "isfinite")
    finite = self.abs() != float("inf")
    return (self == self) * finite


def _check_has_infinity(self: Tensor, name: str) -> None:
    if self.dtype is float8_e4m3fn:
        raise not_implemented_for(name, self.dtype)


def square(self: Tensor) -> Tensor:
    """`x ** 2`."""
    return self.pow(2)


def square_(self: Tensor) -> Tensor:
    """`x **= 2`."""
    return self.pow_(2)


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes and elements, whatever their dtypes."""
    return self._shape == other._shape and bool((self == other).all().item())


def isreal(self: Tensor) -> Tensor:
    """True for real dtypes; a complex number is real if its imaginary part is 0."""
    return self.imag == 0 if self.dtype.is_complex else ones_like(self, dtype=bool_)


def isclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    """Whether elements are equal, or finite and close; integers are compared as floats."""
    if self.dtype is not other.dtype:
        raise DtypeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise ArgumentError(f"{name} must be greater than or equal to zero, but got {tolerance:g}")
    close = self == other
    if equal_nan and self.dtype.category >= FLOATING:
        close = close | (isnan(self) & isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if self.dtype.category < FLOATING:
        other = other.to(get_default_dtype())
    if self.dtype is bool_:
        self = self.to(get_default_dtype())
    difference = (self - other).abs()
    return close | (isfinite(difference) & (difference <= atol + (rtol * other).abs()))


def allclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> bool:
    """Whether `isclose` holds everywhere."""
    return bool(isclose(self, other, rtol, atol, equal_nan).all().item())


# Angles in degrees ----------------------------------------------------------------------------------------------

DEGREE = math.pi / 180  # in radians


def deg2rad(self: Tensor) -> Tensor:
    """The elements times pi / 180."""
    return refuse_complex("deg2rad", self) * DEGREE


def rad2deg(self: Tensor) -> Tensor:
    """The elements times 180 / pi."""
    return refuse_complex("rad2deg", self) * (1 / DEGREE)


def refuse_complex(name: str, self: Tensor) -> Tensor:
    """The tensor itself; complex tensors, whose elements cannot be angles, are refused."""
    if self.dtype.is_complex:
        raise DtypeError(f"{name} is not supported for complex tensors.")
    return self


# Powers in double precision -------------------------------------------------------------------------------------


def float_power(self: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """`self ** exponent`, computed as float64 or complex128."""
    return pow(in_double(self, exponent), in_double(exponent, self))


def float_power_(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """`self **= exponent`, for a tensor that already has the dtype."""
    check_power_dtype("base given to float_power_", self, power_dtype(self, exponent))
    return self.pow_(in_double(exponent, self))


def check_power_dtype(what: str, written: Tensor, wanted: dtype) -> None:
    """Refuse to write a power into a tensor of a different dtype."""
    if written.dtype is not wanted:
        raise DtypeError(
            f"the {what} has dtype {written.dtype.scalar_name} but the operation's result requires dtype "
            f"{wanted.scalar_name}"
        )


def in_double(one: Tensor | Number, other: Tensor | Number) -> Any:
    """One operand of `float_power`: a tensor is converted, a Python number is unchanged."""
    return one if isinstance(one, bool | int | float | complex) else one.to(power_dtype(one, other))


def power_dtype(one: Tensor | Number, other: Tensor | Number) -> dtype:
    """The dtype that `float_power` computes in."""
    return complex128 if result_type(one, other).is_complex else float64


def where_numbers(condition: Tensor, self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """`where` with a Python number on one side or both; refused if the common dtype cannot hold it."""
    common = result_type(self, other)
    device = next((side.device for side in (self, other) if isinstance(side, TensorImpl)), condition.device)

    def tensor(side: Tensor | Number) -> Tensor:
        if isinstance(side, TensorImpl):
            return side
        if common in HALF_PRECISION:  # there, a number that is too large becomes infinite, as in PyTorch
            return _tensor(side)
        number_as(side, common)
        return scalar_tensor(side, common, None, device, None)

    return where_self(condition, tensor(self), tensor(other))


def masked_fill_tensor(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """`masked_fill` with the value of a 0-dim tensor."""
    return masked_fill(self, mask, only_number("masked_fill_", value, self))


def only_number(name: str, value: Tensor, self: Tensor) -> Number:
    """The value of a 0-dim tensor with which `self` is to be filled."""
    if value._shape:
        raise ShapeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {len(value._shape)} dimension(s)."
        )
    return number_in(value, nowhere=self.is_meta)


def number_in(value: Tensor, nowhere: bool) -> Number:
    """The element of a 0-dim tensor; zero, if it has no data and `nowhere` says that the result has none either."""
    return KINDS[value.dtype.category]() if nowhere and value.is_meta else value.item()


def _tensor(value: Tensor | Number) -> Tensor:
    return value if isinstance(value, TensorImpl) else hooks.tensor_hooks.wrapped_number(value)
