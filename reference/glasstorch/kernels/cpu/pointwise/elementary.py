"""Which loops compute trigonometric and hyperbolic functions, logarithms and exponentials on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (atan2_kernel,
    hypot_kernel, logaddexp_kernel, logaddexp2_kernel)
Differs: NumPy's ufuncs are the loops. logaddexp of complex numbers is finite where intermediates overflow in PyTorch.
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import BINARY, UNARY, Row, register_row
from glasstorch.kernels.cpu.pointwise.steps import expm1
from glasstorch.kernels.iterator import Loop
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS, FLOATING, FLOATING_OR_COMPLEX, WITH_COMPLEX
from glasstorch.operators.shapes.promotion import float_result_type

# Loops, called as loop(out, x) or loop(out, x, y) ---------------------------------------------------------------


def complex_log1p(out: Array, z: Array) -> None:
    """`log(1 + z)` of complex numbers; near 0, where `|1 + z|` rounds to 1, from its square.

    Mirrors: c10/util/complex_math.h (log1p)
    """
    x, y = z.real, z.imag
    near = np.less(np.absolute(z), 0.5)
    beyond = np.where(near, x * (2 + x) + y * y, 0)  # |1 + z| ** 2 - 1
    nearly = np.where(beyond == 0, x, 0.5 * np.log1p(beyond))
    moved = z.copy()
    moved.real += 1  # z + 1 would lose the sign of an imaginary part of -0
    np.log(moved, out=out)
    np.copyto(out.real, nearly, where=near)


@slot
def log_add_exp(ufunc: np.ufunc, out: Array, x: Array, y: Array) -> None:
    """np.logaddexp, which is `log(exp(x) + exp(y))`, or np.logaddexp2, the same with powers of 2."""
    ufunc(x, y, out=out)


def adding_powers(ufunc: np.ufunc) -> Loop:
    """The loop of one of the two."""
    return lambda out, x, y: log_add_exp.run(ufunc, out, x, y)


def complex_logaddexp(out: Array, x: Array, y: Array) -> None:
    """`log(exp(x) + exp(y))` of complex numbers: the larger one plus a term that cannot overflow."""
    x_is_larger = np.greater_equal(x.real, y.real)
    larger, smaller = np.where(x_is_larger, x, y), np.where(x_is_larger, y, x)
    np.add(larger, np.log1p(np.exp(np.subtract(smaller, larger))), out=out)


# The tables -----------------------------------------------------------------------------------------------------

ONE: dict[str, Loop] = {
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "expm1": expm1,
    "exp2": np.exp2,
    "log2": np.log2,
    "log10": np.log10,
}

TWO = {
    "atan2": Row(np.arctan2, DIRECT_FLOATS, FLOATING, "atan2_cpu", float_result_type),
    "hypot": Row(np.hypot, DIRECT_FLOATS, FLOATING, "hypot_cpu"),
    "logaddexp": Row(
        adding_powers(np.logaddexp),
        DIRECT_FLOATS,
        FLOATING_OR_COMPLEX,
        "logaddexp_cpu",
        on_complex=complex_logaddexp,
    ),
    "logaddexp2": Row(adding_powers(np.logaddexp2), DIRECT_FLOATS, FLOATING, "logaddexp2_cpu"),
}

for name, loop in ONE.items():
    register_row(UNARY, name, Row(loop, DIRECT_FLOATS, WITH_COMPLEX, "", float_result_type))

LOG1P = Row(np.log1p, DIRECT_FLOATS, WITH_COMPLEX, "", float_result_type, on_complex=complex_log1p)
register_row(UNARY, "log1p", LOG1P)

for name, row in TWO.items():
    register_row(BINARY, name, row)
