"""How are special functions of large arrays computed fast?

# Note [Lines between samples]
SciPy computes a special function one float32 number at a time, in float64: 15 to 30 ns each. A smooth function can be
computed in a dozen steps over whole arrays by linear interpolation: between samples h apart, the error is at most h **
2 / 8 times the second derivative. So each function is written as a smooth one, of a position in a table of line
segments, times a factor with the decay, the growth or the zero; both in float64, rounded once at the end. The samples
are SciPy's values in float64, taken at the first call, and dense enough that results are within 0.8 units in the last
place. Below thresholds.SAMPLED_FROM elements SciPy's function is faster.

Mirrors: aten/src/ATen/native/Math.h (calc_erfinv, calc_i0, calc_i0e, calc_i1, calc_i1e, trigamma)
Differs: PyTorch uses series and rational functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.special import functions
from glasstorch.kernels.cpu.special.functions import evaluate, ufunc
from glasstorch.kernels.halves import SINGLE

STEPS: Final = 1 << 14
DENSITY: Final = 1 / math.sqrt(2 * math.pi)  # of the normal distribution at 0


class Lines(NamedTuple):
    """The line segments between a function's values at positions 0, 1, 2 and so on; the last one is extended."""

    slopes: Array
    intercepts: Array


def lines(values: Array, first: float | None = None, last: float | None = None) -> Lines:
    """The segments between values; `first` and `last` replace a value that cannot be sampled."""
    if first is not None:
        values[0] = first
    if last is not None:
        values[-1] = last
    slopes = np.diff(values)
    slopes = np.append(slopes, slopes[-1])
    return Lines(slopes, values - slopes * np.arange(len(values)))


def at(position: Array, found: Lines) -> Array:
    """The interpolated values at positions, from 0 to the last one; see Note [Lines between samples]."""
    below = position.astype(np.intp)
    result = found.slopes.take(below, mode="clip")
    result *= position
    result += found.intercepts.take(below, mode="clip")
    return result


# From an absolute value, 0 to infinity, to a position, 0 to STEPS
# ------------------------------------------------------------------


def position_of(size: Array, middle: float) -> Array:
    """`STEPS * size / (size + middle)`: half of the positions cover the values up to `middle`."""
    position = np.add(size, middle)
    np.divide(-STEPS * middle, position, out=position)
    position += STEPS
    return position


def sizes(middle: float) -> Array:
    """The absolute values at the positions; the last is infinity."""
    part = np.linspace(0, 1, STEPS + 1)
    sizes: Array = np.divide(middle * part, 1 - part)
    return sizes


# The functions -------------------------------------------------------------------------------------------------------

LEFT, RIGHT = -4, 12  # erfc is 2 and 0 there and beyond, in float32
POSITIONS_PER_UNIT: Final = 1 << 12  # positions from one integer to the next
ERFINV_DEPTH: Final = 16  # the logarithm of 1 - x * x is -15.9 for the float32 next to 1
BESSEL_MIDDLE: Final = 4.0


@cache
def lines_of_erfc() -> Lines:
    """`erfc(x)` on the left, and `erfc(x) * exp(x ** 2)` on the right."""
    x = np.linspace(LEFT, RIGHT, (RIGHT - LEFT) * POSITIONS_PER_UNIT + 1)
    return lines(np.where(x < 0, ufunc("erfc")(x), ufunc("erfcx")(np.maximum(x, 0))))


@cache
def lines_of_erfinv() -> Lines:
    """`erfinv(x) / x` at equally spaced `-log(1 - x ** 2)`."""
    depth = np.linspace(0, ERFINV_DEPTH, STEPS + 1)
    x = np.sqrt(-np.expm1(-depth))
    return lines(ufunc("erfcinv")(np.exp(-depth) / (1 + x)) / x, first=math.sqrt(math.pi) / 2)


@cache
def lines_of_i0() -> Lines:
    """`i0(a) * exp(-a) * sqrt(1 + a)`."""
    a = sizes(BESSEL_MIDDLE)
    return lines(ufunc("i0e")(a) * np.sqrt(1 + a), last=DENSITY)


@cache
def lines_of_i1() -> Lines:
    """`i1(a) * exp(-a) * sqrt(1 + a) * (1 + a) / a`."""
    a = sizes(BESSEL_MIDDLE)
    return lines(ufunc("i1e")(a) * np.sqrt(1 + a) * (1 + a) / a, first=0.5, last=DENSITY)


def erfc(x: Array) -> Array:
    """1 minus the error function."""
    inside = np.minimum(np.maximum(x, LEFT), RIGHT)
    position = np.subtract(inside, LEFT, dtype=np.float64)
    position *= POSITIONS_PER_UNIT
    result = at(position, lines_of_erfc())
    factor = np.square(np.maximum(inside, 0, out=inside), dtype=np.float64)
    result *= np.exp(np.negative(factor, out=factor), out=factor)
    return result


def erfinv(x: Array) -> Array:
    """The inverse of the error function."""
    position = np.square(x, dtype=np.float64)
    np.log(np.subtract(1, position, out=position), out=position)
    position *= -STEPS / ERFINV_DEPTH
    result = at(position, lines_of_erfinv())
    result *= x
    return result


def i0e(x: Array) -> Array:
    """`i0(x) * exp(-abs(x))`."""
    size = np.abs(x, dtype=np.float64)
    result = at(position_of(size, BESSEL_MIDDLE), lines_of_i0())
    size += 1
    result /= np.sqrt(size, out=size)
    return result


def i1e(x: Array) -> Array:
    """`i1(x) * exp(-abs(x))`."""
    size = np.abs(x, dtype=np.float64)
    result = at(position_of(size, BESSEL_MIDDLE), lines_of_i1())
    part = np.reciprocal(size)
    part += 1
    result /= part  # times size / (1 + size), which would be NaN at infinity
    size += 1
    result /= np.sqrt(size, out=size)
    np.copysign(result, np.add(x, 0), out=result)  # i1e(-0) is 0
    return result


def grown(scaled: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function times `exp(abs(x))`; as in PyTorch it is NaN at infinity."""

    def function(x: Array) -> Array:
        result = scaled(x)
        factor = np.abs(x, dtype=np.float64)
        result *= np.exp(factor, out=factor)
        return result

    return function


FUNCTIONS: Final = {"erfc": erfc, "erfinv": erfinv, "i0": grown(i0e), "i0e": i0e, "i1": grown(i1e), "i1e": i1e}


# Fits, series and other ways ------------------------------------------------------------------------------------------


def upper_gamma(a: Array, x: Array) -> Array:
    """SciPy's gammaincc, but 1 - gammainc where it would sum a zeta series for a result far from 0.

    In float64 that is the nearer one: SciPy's series is wrong by up to 50 units in the last place of 1.
    """
    a, x = np.broadcast_arrays(a, x)
    direct = (x <= 1.1) & (a >= 0.05)
    result = np.empty(a.shape, a.dtype)
    result[direct] = 1 - ufunc("gammainc")(a[direct], x[direct])
    np.logical_not(direct, out=direct)
    result[direct] = ufunc("gammaincc")(a[direct], x[direct])
    return result


OTHER_WAYS: Final = {"gammaincc", *FUNCTIONS}  # functions that SciPy does not always compute


@fast(evaluate, when="float32, and gammaincc", benchmark="1e6: special.i0e", exact=3.0)
def evaluate_fast(name: str, out: Array | None, *inputs: Array) -> Array:
    """The values by lines between samples or by one of the ways above, or else by SciPy's loop for float32.

    Lines are within 0.8 units in the last place. So are those of SciPy's loops that compute in float64; the others, as
    that of erfinv, are within three.
    """
    if name not in OTHER_WAYS:
        return ufunc(name)(*inputs, out)  # type: ignore[no-any-return]
    x = inputs[0]
    if name == "gammaincc":
        values = upper_gamma(*inputs)
    elif x.dtype != SINGLE or x.size < thresholds.SAMPLED_FROM:
        return ufunc(name)(*inputs, out)  # type: ignore[no-any-return]
    else:
        values = FUNCTIONS[name](x)
    if out is None:
        return values.astype(x.dtype, copy=False)
    out[...] = values
    return out


TRIGAMMA_TERMS = 10  # terms of the series before its asymptotic tail
TRIGAMMA_TAIL = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)  # Bernoulli numbers, for powers of 1 / x^2


@fast(functions.trigamma, when="always", benchmark="1e6: polygamma(1)", exact=12.0)
def trigamma(out: Array, x: Array) -> None:
    """The derivative of digamma: some terms of its series, then the tail; below 1/2 by reflection.

    Ten steps over whole arrays cost a tenth of SciPy's zeta function. In float32 the error is three units in the last
    place; in float64 what the tail leaves out is 5e-15.
    """
    left = np.less(x, 0.5)
    point = np.where(left, 1 - x, x)
    total = np.zeros_like(point)
    for _ in range(TRIGAMMA_TERMS):
        total += 1 / np.square(point)
        point += 1
    inverse = 1 / np.square(point)
    tail = np.zeros_like(point)
    for number in reversed(TRIGAMMA_TAIL):
        tail = (tail + number) * inverse
    total += (1 + 1 / (2 * point) + tail) / point
    sine = np.sin(np.array(math.pi, x.dtype) * x)
    out[...] = np.where(left, math.pi**2 / np.square(sine) - total, total)
