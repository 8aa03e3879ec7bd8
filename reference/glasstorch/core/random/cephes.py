"""How does PyTorch evaluate the logarithm, sine and cosine of normal numbers in float32?

Mirrors: aten/src/ATen/native/cpu/avx_mathfun.h
Differs: only for arguments that the Box-Muller transform needs: logarithms of (0, 1], angles in [0, 2 pi].

The formulas are those of the Cephes library (Stephen Moshier, 1984 to 2000): reduce the argument to a small
interval, then evaluate a polynomial there. NumPy's functions are as good but differ in the last bit, and
equal seeds should give equal numbers. A compiler makes one instruction of each product that is added to
something, and so does `fused` here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
float32 = np.float32

SQRT_HALF = float32(0.707106781186547524)
LOG_POLYNOMIAL = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
    -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
# log(2) in two parts; the first has so few bits that its product with an exponent is exact.
LOG_2_HIGH, LOG_2_LOW = float32(0.693359375), float32(-2.12194440e-4)

SINE_POLYNOMIAL = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COSINE_POLYNOMIAL = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
FOUR_OVER_PI = float32(1.27323954473516)
# pi / 4 in three parts, subtracted one after the other.
QUARTER_PI_PARTS = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)


def log(x: Float32) -> Float32:
    """The natural logarithm."""
    mantissa, exponents = np.frexp(x)
    small = mantissa < SQRT_HALF
    exponent = (exponents - small).astype(float32)
    # Between sqrt(1/2) - 1 and sqrt(2) - 1 from here on.
    reduced = np.where(small, (mantissa - float32(1)) + mantissa, mantissa - float32(1))
    square = reduced * reduced
    value = _polynomial(reduced, LOG_POLYNOMIAL) * reduced
    value = fused(value, square, exponent * LOG_2_LOW)
    value = fused(square, float32(-0.5), value)
    return fused(exponent, LOG_2_HIGH, reduced + value)


def sine_and_cosine(angle: Float32) -> tuple[Float32, Float32]:
    """Sine and cosine of the same angles, which must be non-negative."""
    octant = ((angle * FOUR_OVER_PI).astype(np.int32) + 1) & ~1
    reduced = angle
    for part in QUARTER_PI_PARTS:
        reduced = fused(octant.astype(float32), float32(-part), reduced)
    square = reduced * reduced
    cosine = _polynomial(square, COSINE_POLYNOMIAL) * square
    cosine = fused(cosine, square, square * float32(-0.5)) + float32(1)
    sine = fused(_polynomial(square, SINE_POLYNOMIAL) * square, reduced, reduced)
    # A quarter turn swaps the two; half a turn changes the sign of both.
    swapped = (octant & 2) != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    np.negative(sine, out=sine, where=(octant & 4) != 0)
    np.negative(cosine, out=cosine, where=(octant - 2 & 4) == 0)
    return sine, cosine


def fused(a: Float32, b: Float32 | np.float32, c: Float32 | np.float32) -> Float32:
    """`a * b + c` with one rounding to float32; in float64 the product is exact and the sum nearly so."""
    product = np.multiply(a, b, dtype=np.float64)
    product += c
    return product.astype(float32)


def _polynomial(x: Float32, coefficients: tuple[float, ...]) -> Float32:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = fused(value, x, float32(coefficient))
    return value
