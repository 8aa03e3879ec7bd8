"""How are remainders and floored quotients of many float32 numbers computed fast, and remainders by one number?

# Note [Division in double precision]
The quotient of two float32 numbers, rounded to float64, has the right integer part below 2**24: a non-integer quotient
is further from the next integer than the rounding error of float64. That integer part times the divisor is then exact
in float64, and so is the remainder. From 2**20 on, the float32 quotient of PyTorch and NumPy may be off by one, so
NumPy handles larger quotients, as well as infinities, NaN and division by 0.

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (fmod_kernel, remainder_kernel, div_floor_kernel), in float32
Differs: float64 arithmetic over blocks instead of the C library's fmod per element, which NumPy calls too.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.pointwise.steps import remainder_of_floats, whole_division
from glasstorch.kernels.iterator import Loop

EXACT_BELOW: Final = 2.0**20  # quotients below this have the same integer part as PyTorch's


def divided(x: Array, y: Array) -> tuple[Array, Array, Array | None]:
    """The quotient rounded towards 0 and the remainder, both in float64, and a mask of unreliable elements.

    See Note [Division in double precision].
    """
    dividend, divisor = x.astype(np.float64), y.astype(np.float64)
    quotient = np.divide(dividend, divisor)
    np.trunc(quotient, out=quotient)
    product = np.multiply(quotient, divisor)
    rest = np.subtract(dividend, product, out=product)
    if np.abs(quotient).max(initial=0.0) < EXACT_BELOW and np.isfinite(np.add.reduce(rest, axis=None)):
        return quotient, rest, None
    return quotient, rest, ~(np.abs(quotient) < EXACT_BELOW) | np.isnan(rest)


def truncated_rest(x: Array, y: Array) -> Array:
    """The remainder of the quotient rounded towards 0, in float32; it has the dividend's sign."""
    _, rest, lost = divided(x, y)
    narrow = rest.astype(np.float32)
    np.copysign(narrow, x, out=narrow)
    if lost is not None:
        left, right = np.broadcast_arrays(x, y)
        narrow[lost] = np.fmod(left[lost], right[lost])
    return narrow


def fmod(out: Array, x: Array, y: Array) -> None:
    """The remainder of the quotient rounded towards 0; it has the dividend's sign."""
    out[...] = truncated_rest(x, y)


def remainder(out: Array, x: Array, y: Array) -> None:
    """The remainder of the quotient rounded down; it has the divisor's sign, and a zero the dividend's."""
    rest = truncated_rest(x, y)
    crossed = np.not_equal(np.less(rest, 0), np.less(y, 0)) & np.not_equal(rest, 0)
    out[...] = np.where(crossed, rest + y, rest)


def floor_divide(out: Array, x: Array, y: Array) -> None:
    """The quotient rounded down."""
    quotient, rest, lost = divided(x, y)
    below = np.not_equal(np.less(rest, 0), np.less(y, 0)) & np.not_equal(rest, 0)
    result = np.where(below, quotient - 1, quotient)
    if lost is not None:
        left, right = np.broadcast_arrays(x, y)
        result[lost] = np.floor_divide(left[lost], right[lost])
    out[...] = result


ZERO: Final = {np.dtype(kind): np.zeros((), kind) for kind in (np.float32, np.float64)}  # a Python 0 is converted


@fast(remainder_of_floats, when="the divisor is a positive number", benchmark="`a % 2`, 8 floats", exact="bits")
def remainder_by_number(out: Array, x: Array, y: Array) -> None:
    """The C library's remainder has the dividend's sign, at 0 too; one below 0 is raised by the divisor."""
    if y.ndim or not (divisor := y.item()) > 0:
        remainder_of_floats.plain(out, x, y)
        return
    np.fmod(x, y, out=out)
    below = np.less(out, ZERO[out.dtype])
    if np.count_nonzero(below):
        np.add(out, divisor, out=out, where=below)


IN_DOUBLE: dict[np.ufunc, Loop] = {np.fmod: fmod, np.remainder: remainder, np.floor_divide: floor_divide}


@fast(whole_division, when="512 float32 numbers or more", benchmark="1e6: remainder", exact="bits")
def division(ufunc: np.ufunc, out: Array, x: Array, y: Array) -> None:
    """See Note [Division in double precision]."""
    if out.dtype == np.float32 and out.size >= thresholds.DIVISION_IN_DOUBLE_FROM:
        IN_DOUBLE[ufunc](out, x, y)
    else:
        whole_division.plain(ufunc, out, x, y)
