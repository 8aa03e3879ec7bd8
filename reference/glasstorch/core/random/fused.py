"""How is `x * scale + shift` rounded once instead of twice?

Mirrors: the fused multiply-add instruction to which a compiler contracts `x * (to - from) + from`
Differs: built from additions and multiplications, because NumPy does not offer the instruction.

A processor with this instruction rounds only the final sum; without it the product is rounded too, and about
one result in four differs in its last bit. PyTorch's builds for such processors use it, so equal seeds give
equal weights only if we do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Multiplying by 2**27 + 1 splits the 53 bits of a float64 into two halves whose products are exact.
SPLITTER = np.float64(2**27 + 1)


def fused_multiply_add(x: NDArray[Any], scale: float, shift: float) -> NDArray[Any]:
    """`x * scale + shift` rounded once to the dtype of `x`, which is float32 or float64.

    `scale` and `shift` must be values of that dtype. The result is a new array.
    """
    if not (math.isfinite(scale) and math.isfinite(shift)):
        with np.errstate(invalid="ignore"):
            result: NDArray[Any] = x * x.dtype.type(scale) + x.dtype.type(shift)
        return result  # infinite or NaN: nothing to round
    if x.dtype == np.float32:
        product = x.astype(np.float64) * scale  # exact: 24 bits times 24 bits
        return sum_rounded_to_odd(product, np.float64(shift)).astype(np.float32)
    product, product_error = exact_product(x, np.float64(scale))
    low, low_error = exact_sum(product_error, np.float64(shift))
    high, high_error = exact_sum(product, low)
    return high + sum_rounded_to_odd(low_error, high_error)


def exact_sum(a: NDArray[np.float64], b: NDArray[np.float64] | np.float64) -> tuple[NDArray[np.float64], ...]:
    """The rounded sum of two arrays and the error of that rounding, which is itself a float64."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def exact_product(a: NDArray[np.float64], b: np.float64) -> tuple[NDArray[np.float64], ...]:
    """The rounded product and the error of that rounding, if nothing overflows or underflows on the way."""
    product = a * b
    a_scaled, b_scaled = a * SPLITTER, b * SPLITTER
    a_high, b_high = a_scaled - (a_scaled - a), b_scaled - (b_scaled - b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def sum_rounded_to_odd(a: NDArray[np.float64], b: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """The sum rounded to odd: an inexact one gets an odd last bit.

    A second rounding to fewer bits then gives what one rounding of the true sum would give: an odd last bit
    can neither be a tie between two shorter numbers nor be mistaken for one.
    """
    total, error = exact_sum(a, b)
    bits = total.view(np.int64)
    inexact_and_even = (error != 0) & (bits & 1 == 0)
    # One step towards the true sum: up in magnitude if the error has the sign of the sum, else down.
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact_and_even, bits + step, bits).view(np.float64)
