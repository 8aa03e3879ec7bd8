"""Which loops compute the special functions of one number and of two on the CPU?

Mirrors: aten/src/ATen/native/Math.h, aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (and a file for each Bessel function),
    aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (xlogy_kernel, xlog1py_kernel, zeta_kernel, igamma_kernel ...)
Differs: SciPy's ufuncs are the loops, in single precision too; most of them derive from the Cephes library, as
    PyTorch's do. Trigamma is a zeta function; PyTorch's shorter series is accurate to nine digits. For large arguments
    the float32 Airy and Bessel functions are more accurate than PyTorch's, and i0 and i1 are finite where PyTorch's
    intermediates overflow. Half precision is computed in float32, and so are the bounds of logit: logit of 1 with eps
    1e-3 is 6.9 in bfloat16, where PyTorch rounds 1 - eps to 1 and returns infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import check_implemented, dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import BINARY, UNARY, Row, register, register_row
from glasstorch.kernels.cpu.special.error_function import erf
from glasstorch.kernels.iterator import Loop, allocate_output, pointwise
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS, EVERY, FLOATING, FLOATING_OR_COMPLEX
from glasstorch.operators.shapes import special as shapes
from glasstorch.operators.shapes.promotion import float_result_type, result_type

FULL_PRECISION = FLOATING & DIRECT_FLOATS  # what AT_DISPATCH_FLOATING_TYPES names

AIRY_UP_TO = 1e5  # absolute values up to which SciPy's Airy function is defined

# Functions of SciPy ----------------------------------------------------------------------------------------------


@cache
def ufunc(name: str) -> np.ufunc:
    """A function of scipy.special, imported at the first call: the import takes as long as that of the whole library.

    It is never given `where=`: with that SciPy 1.17 writes beyond its buffers under NumPy 2.4.
    """
    return getattr(import_module("scipy.special"), name)  # type: ignore[no-any-return]


@slot
def evaluate(name: str, out: Array | None, *inputs: Array) -> Array:
    """The values of a function of scipy.special, computed in float64, and rounded once where written to `out`."""
    return ufunc(name)(*inputs, out=out, dtype=np.float64)  # type: ignore[no-any-return]


def by_scipy(name: str) -> Loop:
    """The loop that is one function of scipy.special."""
    return lambda *arrays: evaluate.run(name, *arrays)


# Other loops, called as loop(out, x) or loop(out, x, y) ------------------------------------------------------------


def error_function(out: Array, x: Array) -> None:
    """The error function, fast where that is installed."""
    erf.run(out, x)


def erfinv(out: Array, x: Array) -> None:
    """The inverse of the error function, also of -0, for which SciPy's gives 0."""
    np.copysign(evaluate.run("erfinv", None, x), x, out=out)


def log_gamma(out: Array, x: Array) -> None:
    """The logarithm of the absolute value of the gamma function; SciPy's is -inf at -inf, C's and PyTorch's +inf."""
    ufunc("gammaln")(x, out=out)
    np.copyto(out, np.inf, where=np.isneginf(out))


def sinc(out: Array, x: Array) -> None:
    """`sin(pi x) / (pi x)`, and 1 at 0."""
    turned, zero = np.multiply(x, np.array(math.pi, x.dtype)), x == 0
    np.divide(np.sin(turned), turned, out=out)
    np.copyto(out, 1, where=zero)


def airy_ai(out: Array, x: Array) -> None:
    """The first of SciPy's four results; beyond its range, 0 on the right and the asymptotic oscillation on the left.

    At infinities it is NaN, as in PyTorch.
    """
    size, right = np.abs(x), x > 0
    far = size > AIRY_UP_TO
    ufunc("airy")(x, out=(out, None, None, None))
    if far.any():
        wave = np.sin(size**1.5 * 2 / 3 + math.pi / 4) / (math.sqrt(math.pi) * size**0.25)
        np.copyto(out, np.where(right, 0 * size, wave), where=far)


def spherical_bessel_j0(out: Array, x: Array) -> None:
    """`sin(x) / x`, 1 at 0 and 0 at an infinity."""
    zero, infinite = x == 0, np.isinf(x)
    np.divide(np.sin(x), x, out=out)
    np.copyto(out, 1, where=zero)
    np.copyto(out, 0, where=infinite)


def zeta(out: Array, x: Array, q: Array) -> None:
    """The Hurwitz zeta function; at an infinite `q` it is NaN, as in PyTorch, where SciPy has 0."""
    endless = np.isposinf(q) & np.greater(x, 1)
    ufunc("zeta")(x, q, out=out)
    np.copyto(out, np.nan, where=endless)


def incomplete_gamma(name: str, at_zero: int) -> Loop:
    """The loop of an incomplete gamma function; `at_zero` (0 or 1) is its value at x = 0, the other that at infinity.

    Where one argument determines the result, PyTorch ignores NaN in the other.
    """

    def loop(out: Array, a: Array, x: Array) -> None:
        nothing, everything = (x == 0) & np.isnan(a) | np.isposinf(a) & np.isnan(x), np.isposinf(x) & np.isnan(a)
        evaluate.run(name, out, a, x)
        np.copyto(out, at_zero, where=nothing)
        np.copyto(out, 1 - at_zero, where=everything)

    return loop


@slot
def trigamma(out: Array, x: Array) -> None:
    """The derivative of digamma: a zeta function, below 1/2 by reflection."""
    wide = x.astype(np.float64)
    left = wide < 0.5
    values = ufunc("zeta")(2, np.where(left, 1 - wide, wide))
    out[...] = np.where(left, np.square(math.pi / np.sin(math.pi * wide)) - values, values)


# The tables ----------------------------------------------------------------------------------------------------------


def row_of(
    loop: Loop, label: str, accepts: frozenset[dtype] = FLOATING, common: Callable[..., dtype] = float_result_type
) -> Row:
    """The row of a function of floating point numbers; `label` is the name of PyTorch's kernel in messages."""
    return Row(loop, DIRECT_FLOATS, accepts, label, common)


ONE = {
    "erf": row_of(error_function, "erf_vml_cpu"),
    "erfc": row_of(by_scipy("erfc"), "erfc_vml_cpu"),
    "erfinv": row_of(erfinv, "erfinv_vml_cpu"),
    "lgamma": row_of(log_gamma, "lgamma_vml_cpu"),
    "digamma": row_of(by_scipy("psi"), "digamma"),
    "i0": row_of(by_scipy("i0"), "i0_vml_cpu"),
    "sinc": row_of(sinc, "sinc_cpu", FLOATING_OR_COMPLEX),
    "special_entr": row_of(by_scipy("entr"), "entr_cpu"),
    "special_i0e": row_of(by_scipy("i0e"), "i0e_cpu"),
    "special_i1": row_of(by_scipy("i1"), "i1_cpu"),
    "special_i1e": row_of(by_scipy("i1e"), "i1e_cpu"),
    "special_erfcx": row_of(by_scipy("erfcx"), "erfcx_cpu", FULL_PRECISION),
    "special_ndtri": row_of(by_scipy("ndtri"), "ndtri_cpu", FULL_PRECISION),
    "special_log_ndtr": row_of(by_scipy("log_ndtr"), "log_ndtr_cpu", FULL_PRECISION),
    "special_airy_ai": row_of(airy_ai, "airy_ai_cpu", FULL_PRECISION),
    "special_bessel_j0": row_of(by_scipy("j0"), "bessel_j0_cpu", FULL_PRECISION),
    "special_bessel_j1": row_of(by_scipy("j1"), "bessel_j1_cpu", FULL_PRECISION),
    "special_bessel_y0": row_of(by_scipy("y0"), "bessel_y0_cpu", FULL_PRECISION),
    "special_bessel_y1": row_of(by_scipy("y1"), "bessel_y1_cpu", FULL_PRECISION),
    "special_modified_bessel_i0": row_of(by_scipy("i0"), "modified_bessel_i0_cpu", FULL_PRECISION),
    "special_modified_bessel_i1": row_of(by_scipy("i1"), "modified_bessel_i1_cpu", FULL_PRECISION),
    "special_modified_bessel_k0": row_of(by_scipy("k0"), "modified_bessel_k0_cpu", FULL_PRECISION),
    "special_modified_bessel_k1": row_of(by_scipy("k1"), "modified_bessel_k1_cpu", FULL_PRECISION),
    "special_scaled_modified_bessel_k0": row_of(by_scipy("k0e"), "scaled_modified_bessel_k0_cpu", FULL_PRECISION),
    "special_scaled_modified_bessel_k1": row_of(by_scipy("k1e"), "scaled_modified_bessel_k1_cpu", FULL_PRECISION),
    "special_spherical_bessel_j0": row_of(spherical_bessel_j0, "spherical_bessel_j0_cpu", FULL_PRECISION),
}

TWO = {
    "xlogy.Tensor": row_of(by_scipy("xlogy"), "xlogy_cpu"),
    "special_xlog1py": row_of(by_scipy("xlog1py"), "xlog1py_cpu"),
    "special_zeta": row_of(zeta, "zeta_cpu", FULL_PRECISION),
    "igamma": row_of(incomplete_gamma("gammainc", 0), "igamma_cpu", common=result_type),
    "igammac": row_of(incomplete_gamma("gammaincc", 1), "igammac_cpu", common=result_type),
}

for table, rows in ((UNARY, ONE), (BINARY, TWO)):
    for name, row in rows.items():
        register_row(table, name, row)

# With a number argument -------------------------------------------------------------------------------------

NOT_FLOATING = EVERY - FLOATING


def logit(keys: int, self: Tensor, eps: float | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `logit`, `log(x / (1 - x))`: the input is clamped to [eps, 1 - eps]."""
    output = allocate_output(shapes.logit(self, eps)) if out is None else out
    common = float_result_type(self)
    check_implemented("logit_cpu", common, NOT_FLOATING)

    def loop(out: Array, x: Array) -> None:
        if eps is not None and eps >= 0:
            low = np.array(eps, x.dtype)
            high = np.array(1, x.dtype) - low
            x = np.where(x < low, low, np.where(x > high, high, x))
        np.log(np.divide(x, np.subtract(1, x)), out=out)

    return pointwise(loop, common, (self,), output)


def polygamma(keys: int, n: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `polygamma`: the n-th derivative of digamma."""
    output = allocate_output(shapes.polygamma(n, self)) if out is None else out
    common = float_result_type(self)
    check_implemented(("digamma", "trigamma", "polygamma")[min(n, 2)], common, NOT_FLOATING)

    def by_zeta(out: Array, x: Array) -> None:
        factor: Any = np.exp(ufunc("gammaln")(np.array(n + 1, x.dtype)))
        zeta(out, np.array(n + 1, x.dtype), x)
        np.multiply(out, factor if n % 2 else -factor, out=out)

    loop = ONE["digamma"].loop if n == 0 else trigamma.run if n == 1 else by_zeta
    return pointwise(loop, common, (self,), output)


register("logit", logit)
register("polygamma", polygamma)
