"""Which functions of elements does NumPy lack, or compute otherwise than PyTorch?

They are called as `loop(out, ...)`, and read no input after they have written to `out`.

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, UnaryOpsKernel.cpp; c10/util/generic_math.h (div_floor_floating)
Differs: an integer quotient that overflows wraps around; PyTorch's stops the process.
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.errors import IntegerDivisionError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.iterator import Loop

# Signs -------------------------------------------------------------------------------------------------------------


def negative(out: Array, x: Array) -> None:
    """`-x`, avoiding a bug of NumPy's own loop on non-contiguous arrays.

    np.negative of NumPy 2.4 reads the wrong elements where both arrays are non-contiguous and the input has strides of
    16 bytes (4-byte elements) or 64 bytes (8-byte elements): a = np.arange(16.0); np.negative(a[::8], out=a[::8])
    leaves -1 for -8.
    """
    if x.flags.forc and out.flags.forc:
        np.negative(x, out=out)
    else:
        out[...] = np.negative(x.copy())


def sgn(out: Array, x: Array) -> None:
    """`(x > 0) - (x < 0)`: 0 for NaN, where np.sign gives NaN, and right for bool, which np.sign refuses."""
    np.subtract(np.greater(x, 0).view(np.int8), np.less(x, 0).view(np.int8), out=out, casting="unsafe")


def direction(out: Array, x: Array) -> None:
    """`x / |x|`, and 0 for 0: sgn of a complex number."""
    size = np.absolute(x)
    np.divide(x, np.where(size == 0, 1, size), out=out)


# Quotients ---------------------------------------------------------------------------------------------------------


def refuse_zero_divisor(out: Array, divisor: Array) -> None:
    """Refuse a zero among integer divisors: integers have no infinity to return."""
    if out.dtype.kind != "f" and out.size and not (divisor.all() if divisor.ndim else divisor):
        raise IntegerDivisionError("ZeroDivisionError")


@slot
def remainder_of_floats(out: Array, x: Array, y: Array) -> None:
    """np.remainder, but a remainder of 0 has the dividend's sign, as in C; NumPy's has the divisor's."""
    rest = np.remainder(x, y)
    out[...] = np.copysign(rest, x, out=rest, where=rest == 0)


@slot
def whole_division(ufunc: np.ufunc, out: Array, x: Array, y: Array) -> None:
    """np.floor_divide, np.remainder or np.fmod; a remainder of 0 has the dividend's sign."""
    if ufunc is np.remainder and out.dtype.kind == "f":
        remainder_of_floats.run(out, x, y)
    else:
        ufunc(x, y, out=out)


def dividing(ufunc: np.ufunc) -> Loop:
    """The loop of a division, which refuses integer zeros."""

    def loop(out: Array, x: Array, y: Array) -> None:
        refuse_zero_divisor(out, y)
        whole_division.run(ufunc, out, x, y)

    return loop


floor_divide = dividing(np.floor_divide)
remainder = dividing(np.remainder)


def trunc_divide(out: Array, x: Array, y: Array) -> None:
    """The quotient rounded towards 0."""
    refuse_zero_divisor(out, y)
    if out.dtype.kind == "f":
        np.trunc(np.true_divide(x, y, out=out), out=out)
    else:  # the rest is a multiple of y, so that its division is exact
        np.floor_divide(np.subtract(x, np.fmod(x, y)), y, out=out)


# Powers ------------------------------------------------------------------------------------------------------------


def power(out: Array, x: Array, exponent: Array) -> None:
    """`x ** exponent`; an integer whose exponent is negative becomes 0, unless its inverse is an integer."""
    if out.dtype.kind != "i" or not (negative := np.less(exponent, 0)).any():
        np.power(x, exponent, out=out)
        return
    inverse = np.where(np.equal(x, 1), 1, np.where(np.equal(x, -1), 1 - 2 * np.bitwise_and(exponent, 1), 0))
    out[...] = np.where(negative, inverse, np.power(x, np.maximum(exponent, 0)))


def complex_power(out: Array, x: Array, exponent: Array) -> None:
    """`x ** exponent` of complex numbers; a power of 0 is `exp(exponent * log(0))`, as in C: 0 ** 0 is NaN.

    NumPy's NaN is replaced by that formula too: NumPy multiplies out small integer powers, which may overflow.
    """
    result = np.power(x, exponent)
    if (lost := np.equal(x, 0) | np.isnan(result)).any():
        np.copyto(result, np.exp(np.multiply(np.log(x), exponent)), where=lost)
    out[...] = result


# Functions of floats -----------------------------------------------------------------------------------------------


def rounded_once(ufunc: np.ufunc) -> Loop:
    """The loop of a function that NumPy computes in float32 with an error of up to four units in the last place.

    In float64 it is right, and rounded once: see decision 0030. NumPy casts a piece at a time.
    """

    def loop(out: Array, x: Array) -> None:
        ufunc(x, out=out, dtype=np.float64 if out.dtype.char == "f" else None, casting="same_kind")

    loop.__name__ = f"rounded_{ufunc.__name__}"
    return loop


exp, log, expm1, tanh = map(rounded_once, (np.exp, np.log, np.expm1, np.tanh))


# Choices -----------------------------------------------------------------------------------------------------------


@slot
def choose(out: Array, mask: Array, x: Array, y: Array) -> None:
    """`x` where the mask is true, else `y`."""
    out[...] = np.where(mask, x, y)


def clip(out: Array, x: Array, low: Array, high: Array) -> None:
    """`x` between two numbers; NaN anywhere gives NaN."""
    np.clip(x, low, high, out=out)
