"""What is left of float32 numbers that are divided, and what is their quotient rounded down?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (fmod_kernel, remainder_kernel, div_floor_kernel), in float32
Differs: a loop over blocks in float64 instead of the C library's fmod for each element.

# Note [Division in twice the digits]
The quotient of two float32 numbers, rounded to float64, has the right integer part where that is below 2**24: a
quotient that is no integer is further from the next one than float64 rounds. Then the part times the divisor is exact
in float64, and so is what that leaves of the dividend. From 2**20 on the quotient in float32, as PyTorch and NumPy find
it, may be one off, so larger ones are left to NumPy, and so are infinities, NaN and division by 0.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from glasstorch.core.tensor_impl import Array

WORTH: Final = 512  # elements: below, one call of NumPy's takes less time than our dozen
EXACT: Final = 2.0**20  # quotients below this have the integer part that PyTorch finds


def divided(x: Array, y: Array) -> tuple[Array, Array, Array | None]:
    """The quotient rounded towards 0, what it leaves of x, both in float64, and where they are not to be trusted.

    See Note [Division in twice the digits].
    """
    dividend, divisor = x.astype(np.float64), y.astype(np.float64)
    quotient = np.divide(dividend, divisor)
    np.trunc(quotient, out=quotient)
    product = np.multiply(quotient, divisor)
    rest = np.subtract(dividend, product, out=product)
    if np.abs(quotient).max(initial=0.0) < EXACT and np.isfinite(np.add.reduce(rest, axis=None)):
        return quotient, rest, None
    return quotient, rest, ~(np.abs(quotient) < EXACT) | np.isnan(rest)


def truncated_rest(x: Array, y: Array) -> Array:
    """What rounding the quotient towards 0 leaves, in float32; it has the dividend's sign."""
    _, rest, lost = divided(x, y)
    narrow = rest.astype(np.float32)
    np.copysign(narrow, x, out=narrow)
    if lost is not None:
        left, right = np.broadcast_arrays(x, y)
        narrow[lost] = np.fmod(left[lost], right[lost])
    return narrow


def fmod(out: Array, x: Array, y: Array) -> None:
    """What rounding the quotient towards 0 leaves; it has the dividend's sign."""
    out[...] = truncated_rest(x, y)


def remainder(out: Array, x: Array, y: Array) -> None:
    """What rounding the quotient down leaves; it has the divisor's sign, and where it is 0 the dividend's."""
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
