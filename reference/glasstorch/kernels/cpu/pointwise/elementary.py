"""Which loops compute trigonometric and hyperbolic functions, logarithms and exponentials on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (atan2_kernel,
    hypot_kernel, logaddexp_kernel, logaddexp2_kernel)
Differs: NumPy's ufuncs are the loops. logaddexp of complex numbers is finite where intermediates overflow in PyTorch.
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.dtype import DTYPES
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import ALL, BINARY, DIRECT_FLOATS, FLOATING, UNARY, Row, register_row
from glasstorch.kernels.iterator import Loop
from glasstorch.operators.shapes.promotion import float_result_type

COMPLEX = frozenset(d for d in DTYPES if d.is_complex)

# Loops of several steps, called as loop(out, x) or loop(out, x, y) ----------------------------------------------


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


def logaddexp(out: Array, x: Array, y: Array) -> None:
    """`log(exp(x) + exp(y))`, also of complex numbers: the larger one plus a term that cannot overflow."""
    if out.dtype.kind != "c":
        larger = np.maximum(x, y)
        beside = np.exp(np.negative(np.abs(np.subtract(x, y))))
        np.add(larger, np.log1p(beside), out=out)
        np.copyto(out, larger, where=np.isinf(larger))  # the difference of two infinities is NaN
        return
    x_is_larger = np.greater_equal(x.real, y.real)
    larger, smaller = np.where(x_is_larger, x, y), np.where(x_is_larger, y, x)
    np.add(larger, np.log1p(np.exp(np.subtract(smaller, larger))), out=out)


def logaddexp2(out: Array, x: Array, y: Array) -> None:
    """`log2(2 ** x + 2 ** y)`."""
    larger = np.maximum(x, y)
    beside = np.exp2(np.negative(np.abs(np.subtract(x, y))))
    np.add(larger, np.multiply(np.log1p(beside), out.dtype.type(1 / np.log(2))), out=out)
    np.copyto(out, larger, where=np.isinf(larger))


# The tables -----------------------------------------------------------------------------------------------------

FLOATING_POINT: dict[str, Loop] = {
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "expm1": np.expm1,
    "exp2": np.exp2,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
}

ON_COMPLEX: dict[str, Loop] = {"log1p": complex_log1p}

ONE = {
    name: Row(loop, DIRECT_FLOATS, ALL | COMPLEX, "", float_result_type, on_complex=ON_COMPLEX.get(name))
    for name, loop in FLOATING_POINT.items()
}

TWO = {
    "atan2": Row(np.arctan2, DIRECT_FLOATS, FLOATING, "atan2_cpu", float_result_type),
    "hypot": Row(np.hypot, DIRECT_FLOATS, FLOATING, "hypot_cpu"),
    "logaddexp": Row(logaddexp, DIRECT_FLOATS, FLOATING | COMPLEX, "logaddexp_cpu"),
    "logaddexp2": Row(logaddexp2, DIRECT_FLOATS, FLOATING, "logaddexp2_cpu"),
}

for name, row in ONE.items():
    register_row(UNARY, name, row)

for name, row in TWO.items():
    register_row(BINARY, name, row)
