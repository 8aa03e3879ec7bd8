"""Which loops compute the special functions of one number on the CPU?

Mirrors: aten/src/ATen/native/Math.h, aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (and a file for each Bessel function)
Differs: SciPy's ufuncs are the loops, in single precision too; most of them derive from the Cephes library, as
    PyTorch's do. For large float32 arrays a few functions are interpolated between samples (`sampled`), and erf is a
    polynomial fit. The trigamma series has more terms: PyTorch's is accurate to nine digits. For large arguments the
    float32 Airy and Bessel functions are more accurate than PyTorch's, and i0 and i1 are finite where PyTorch's
    intermediates overflow. Half precision is computed in float32, and so are the bounds of logit: logit of 1 with eps
    1e-3 is 6.9 in bfloat16, where PyTorch rounds 1 - eps to 1 and returns infinity.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import (
    DIRECT_FLOATS,
    FLOATING,
    FLOATING_OR_COMPLEX,
    UNARY,
    Row,
    register,
    register_row,
)
from glasstorch.kernels.cpu.special.sampled import by_samples, signed_erfinv
from glasstorch.kernels.cpu.special.scipy_ufuncs import by_scipy, ufunc
from glasstorch.kernels.iterator import Loop, allocate_output, pointwise
from glasstorch.operators.shapes import special as shapes
from glasstorch.operators.shapes.promotion import float_result_type

FULL_PRECISION = FLOATING & DIRECT_FLOATS  # what AT_DISPATCH_FLOATING_TYPES names

AIRY_UP_TO = 1e5  # absolute values up to which SciPy's Airy function is defined
# Loops of several steps, called as loop(out, x) ----------------------------------------------------------------------


# artanh(erf(x)) / x as a polynomial of x^2, by rising powers: a fit to SciPy's erf with an error of 1e-7. Its
# hyperbolic tangent saturates at 1 and -1 where erf does.
ERF_BEFORE_TANH: Final = (
    1.12837927,
    0.102769056,
    -0.000191831066,
    -0.00061978444,
    8.76372481e-05,
    -5.66846308e-06,
    1.41851529e-07,
)


def erf(out: Array, x: Array) -> None:
    """The error function; for float32 by a much faster fit, accurate to three units in the last place."""
    if x.dtype != np.float32:
        ufunc("erf")(x, out=out)
        return
    square = np.square(x)
    *lower, highest = ERF_BEFORE_TANH
    value = np.multiply(square, highest)
    for coefficient in reversed(lower[1:]):
        np.add(value, coefficient, out=value)
        np.multiply(value, square, out=value)
    np.add(value, lower[0], out=value)
    np.multiply(value, x, out=value)
    np.tanh(value, out=out)


def log_gamma(out: Array, x: Array) -> None:
    """The logarithm of the absolute value of the gamma function; SciPy's is -inf at -inf, C's and PyTorch's +inf."""
    ufunc("gammaln")(x, out=out)
    np.copyto(out, np.inf, where=np.isneginf(out))


def sinc(out: Array, x: Array) -> None:
    """`sin(pi x) / (pi x)`, and 1 at 0."""
    turned = np.multiply(x, np.array(math.pi, x.dtype))
    zero = np.equal(x, 0)
    np.divide(np.sin(turned), turned, out=out)
    np.copyto(out, 1, where=zero)


def airy_ai(out: Array, x: Array) -> None:
    """The first of SciPy's four results; beyond its range, 0 on the right and the asymptotic oscillation on the left.

    At infinities it is NaN, as in PyTorch.
    """
    far, size = np.abs(x) > AIRY_UP_TO, np.abs(x)
    right = np.greater(x, 0)
    ufunc("airy")(x, out=(out, None, None, None))
    if far.any():
        wave = np.sin(size**1.5 * 2 / 3 + math.pi / 4) / (math.sqrt(math.pi) * size**0.25)
        np.copyto(out, np.where(np.isinf(size), np.nan, np.where(right, 0, wave)), where=far)


def spherical_bessel_j0(out: Array, x: Array) -> None:
    """`sin(x) / x`, 1 at 0 and 0 at an infinity."""
    zero, infinite = np.equal(x, 0), np.isinf(x)
    np.divide(np.sin(x), x, out=out)
    np.copyto(out, 1, where=zero)
    np.copyto(out, 0, where=infinite)


def zeta(out: Array, x: Array, q: Array) -> None:
    """The Hurwitz zeta function; at an infinite `q` it is NaN, as in PyTorch, where SciPy has 0."""
    endless = np.isposinf(q) & np.greater(x, 1)
    ufunc("zeta")(x, q, out=out)
    np.copyto(out, np.nan, where=endless)


def logit(out: Array, x: Array) -> None:
    """`log(x / (1 - x))`."""
    np.log(np.divide(x, np.subtract(1, x)), out=out)


TRIGAMMA_TERMS = 10  # terms of the series before its asymptotic tail
TRIGAMMA_TAIL = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)  # Bernoulli numbers, for powers of 1 / x^2


def trigamma(out: Array, x: Array) -> None:
    """The derivative of digamma: some terms of its series, then the tail; below 1/2 by reflection."""
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


# The tables ----------------------------------------------------------------------------------------------------------

HALF_TOO: dict[str, tuple[Loop, str]] = {  # operator -> its loop, and the name of PyTorch's kernel in messages
    "erf": (erf, "erf_vml_cpu"),
    "erfc": (by_samples("erfc"), "erfc_vml_cpu"),
    "erfinv": (by_samples("erfinv", signed_erfinv), "erfinv_vml_cpu"),
    "lgamma": (log_gamma, "lgamma_vml_cpu"),
    "digamma": (by_scipy("psi"), "digamma"),
    "i0": (by_samples("i0"), "i0_vml_cpu"),
    "special_entr": (by_scipy("entr"), "entr_cpu"),
    "special_i0e": (by_samples("i0e"), "i0e_cpu"),
    "special_i1": (by_samples("i1"), "i1_cpu"),
    "special_i1e": (by_samples("i1e"), "i1e_cpu"),
}

FULL_ONLY: dict[str, Loop] = {  # functions of float32 and float64 only
    "special_erfcx": by_scipy("erfcx"),
    "special_ndtri": by_scipy("ndtri"),
    "special_log_ndtr": by_scipy("log_ndtr"),
    "special_airy_ai": airy_ai,
    "special_bessel_j0": by_scipy("j0"),
    "special_bessel_j1": by_scipy("j1"),
    "special_bessel_y0": by_scipy("y0"),
    "special_bessel_y1": by_scipy("y1"),
    "special_modified_bessel_i0": by_samples("i0"),
    "special_modified_bessel_i1": by_samples("i1"),
    "special_modified_bessel_k0": by_scipy("k0"),
    "special_modified_bessel_k1": by_scipy("k1"),
    "special_scaled_modified_bessel_k0": by_scipy("k0e"),
    "special_scaled_modified_bessel_k1": by_scipy("k1e"),
    "special_spherical_bessel_j0": spherical_bessel_j0,
}

ROWS = {
    **{name: Row(loop, DIRECT_FLOATS, FLOATING, label, float_result_type) for name, (loop, label) in HALF_TOO.items()},
    **{
        name: Row(loop, DIRECT_FLOATS, FULL_PRECISION, f"{name.removeprefix('special_')}_cpu", float_result_type)
        for name, loop in FULL_ONLY.items()
    },
    "sinc": Row(sinc, DIRECT_FLOATS, FLOATING_OR_COMPLEX, "sinc_cpu", float_result_type),
}

for name, row in ROWS.items():
    register_row(UNARY, name, row)

# With a number argument -------------------------------------------------------------------------------------

LOGIT = Row(logit, DIRECT_FLOATS, FLOATING, "logit_cpu")
POLYGAMMA = tuple(Row(trigamma, DIRECT_FLOATS, FLOATING, label) for label in ("digamma", "trigamma", "polygamma"))


def logit_between(keys: int, self: Tensor, eps: float | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `logit`: the input is clamped to [eps, 1 - eps]."""
    output = allocate_output(shapes.logit(self, eps)) if out is None else out
    common = float_result_type(self)
    LOGIT.check(common)

    def clipped(out: Array, x: Array) -> None:
        low, high = np.array(eps, x.dtype), np.array(1, x.dtype) - np.array(eps, x.dtype)
        logit(out, np.where(x < low, low, np.where(x > high, high, x)))

    return pointwise(logit if eps is None or eps < 0 else clipped, common, (self,), output)


def polygamma(keys: int, n: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `polygamma`: the n-th derivative of digamma."""
    output = allocate_output(shapes.polygamma(n, self)) if out is None else out
    common = float_result_type(self)
    POLYGAMMA[min(n, 2)].check(common)

    def by_zeta(out: Array, x: Array) -> None:
        factor: Any = np.exp(ufunc("gammaln")(np.array(n + 1, x.dtype)))
        zeta(out, np.array(n + 1, x.dtype), x)
        np.multiply(out, factor if n % 2 else -factor, out=out)

    loop = ROWS["digamma"].loop if n == 0 else trigamma if n == 1 else by_zeta
    return pointwise(loop, common, (self,), output)


register("logit", logit_between)
register("polygamma", polygamma)
