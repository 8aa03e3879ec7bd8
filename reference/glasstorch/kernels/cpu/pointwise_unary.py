"""Which loops compute from one tensor element by element on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, aten/src/ATen/native/cpu/Activation.cpp
Differs: NumPy's ufuncs are the loops; what they lack is made of several, on one block after another.
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise import (
    ALL,
    DIRECT,
    DIRECT_FLOATS,
    DIRECT_NOT_BOOL,
    INTEGRAL_OR_BOOL,
    NOT_BOOL,
    Row,
    register,
    unary_kernel,
)
from glasstorch.kernels.iterator import Loop
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.promotion import float_result_type

ONE = {d.numpy.char: np.ones((), d.numpy) for d in DIRECT_FLOATS}  # a ufunc reads an array faster than a number

# Loops of several steps, called as loop(out, x) -----------------------------------------------------------------


def sigmoid(out: Array, x: Array) -> None:
    """`1 / (1 + exp(-x))`: where exp overflows the answer is 0, as it should be."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, ONE[out.dtype.char], out=out)
    np.reciprocal(out, out=out)


def rsqrt(out: Array, x: Array) -> None:
    """`1 / sqrt(x)`."""
    np.sqrt(x, out=out)
    np.reciprocal(out, out=out)


def sgn(out: Array, x: Array) -> None:
    """`(x > 0) - (x < 0)`: 0 for NaN, where np.sign gives NaN, and right for bool, which np.sign refuses."""
    np.subtract(np.greater(x, 0).view(np.int8), np.less(x, 0).view(np.int8), out=out, casting="unsafe")


# The tables -----------------------------------------------------------------------------------------------------

SAME_DTYPE = {
    "neg": Row(np.negative, DIRECT_NOT_BOOL),
    "abs": Row(np.absolute, DIRECT_NOT_BOOL, NOT_BOOL, "abs_cpu"),
    "sgn": Row(sgn, DIRECT),
    "bitwise_not": Row(np.invert, INTEGRAL_OR_BOOL, INTEGRAL_OR_BOOL, "bitwise_not_cpu"),
}

FLOATING_POINT: dict[str, Loop] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": rsqrt,
    "reciprocal": np.reciprocal,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": sigmoid,
}

ROWS = SAME_DTYPE | {
    name: Row(loop, DIRECT_FLOATS, ALL, "", float_result_type) for name, loop in FLOATING_POINT.items()
}

for name, row in ROWS.items():
    register(name, *unary_kernel(shape_function(name), row))
