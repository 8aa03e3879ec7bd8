"""Which loops compute the special functions of two numbers on the CPU?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (xlogy_kernel, xlog1py_kernel, zeta_kernel, igamma_kernel,
    igammac_kernel), aten/src/ATen/native/Math.h
Differs: SciPy's ufuncs are the loops, as in `unary`.
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import BINARY, DIRECT_FLOATS, FLOATING, Row, register_row
from glasstorch.kernels.cpu.special.scipy_ufuncs import by_scipy, ufunc
from glasstorch.kernels.cpu.special.unary import FULL_PRECISION, zeta
from glasstorch.kernels.iterator import Loop
from glasstorch.operators.shapes.promotion import float_result_type


def upper(a: Array, x: Array, out: Array) -> None:
    """SciPy's gammaincc, but 1 - gammainc where it would sum a zeta series for a result far from 0."""
    a, x = np.broadcast_arrays(a, x)
    direct = (x <= 1.1) & (a >= 0.05)
    result = np.empty_like(out)
    result[direct] = 1 - ufunc("gammainc")(a[direct], x[direct])
    np.logical_not(direct, out=direct)
    result[direct] = ufunc("gammaincc")(a[direct], x[direct])
    np.copyto(out, result)


def incomplete_gamma(name: str, at_zero: int) -> Loop:
    """The loop of an incomplete gamma function; `at_zero` (0 or 1) is its value at x = 0, the other that at infinity.

    Where one argument determines the result, PyTorch ignores NaN in the other.
    """

    def loop(out: Array, a: Array, x: Array) -> None:
        nothing, everything = (x == 0) & np.isnan(a) | np.isposinf(a) & np.isnan(x), np.isposinf(x) & np.isnan(a)
        (ufunc(name) if at_zero == 0 else upper)(a, x, out=out)
        np.copyto(out, at_zero, where=nothing)
        np.copyto(out, 1 - at_zero, where=everything)

    return loop


ROWS = {
    "xlogy.Tensor": Row(by_scipy("xlogy"), DIRECT_FLOATS, FLOATING, "xlogy_cpu", float_result_type),
    "special_xlog1py": Row(by_scipy("xlog1py"), DIRECT_FLOATS, FLOATING, "xlog1py_cpu", float_result_type),
    "special_zeta": Row(zeta, DIRECT_FLOATS, FULL_PRECISION, "zeta_cpu", float_result_type),
    "igamma": Row(incomplete_gamma("gammainc", 0), DIRECT_FLOATS, FLOATING, "igamma_cpu"),
    "igammac": Row(incomplete_gamma("gammaincc", 1), DIRECT_FLOATS, FLOATING, "igammac_cpu"),
}

for name, row in ROWS.items():
    register_row(BINARY, name, row)
