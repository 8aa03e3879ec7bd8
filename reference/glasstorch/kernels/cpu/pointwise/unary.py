"""Which loops compute from one tensor element by element on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp, aten/src/ATen/native/cpu/Activation.cpp
Differs: NumPy's ufuncs are the loops; missing functions are composed of several ufuncs, block by block.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, bool_
from glasstorch.core.errors import DtypeError
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import (
    DIRECT,
    DIRECT_FLOATS,
    DIRECT_NOT_BOOL,
    FLOATING_OR_COMPLEX,
    INTEGRAL_OR_BOOL,
    NOT_BOOL,
    UNARY,
    WITH_COMPLEX,
    Kernel,
    Row,
    kernel_of,
    negative,
    register,
    register_row,
    with_real_result,
)
from glasstorch.kernels.iterator import Loop
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type

ONE = {
    d.numpy.char: np.ones((), d.numpy) for d in DIRECT_FLOATS | COMPLEX_DTYPES
}  # ufuncs read a 0-dim array faster than a Python number

# Loops of several steps, called as loop(out, x) -----------------------------------------------------------------


def sigmoid(out: Array, x: Array) -> None:
    """`1 / (1 + exp(-x))`: where exp overflows, the result is correctly 0."""
    negative(out, x)
    np.exp(out, out=out)
    np.add(out, ONE[out.dtype.char], out=out)
    np.true_divide(ONE[out.dtype.char], out, out=out)  # faster than np.reciprocal


def rsqrt(out: Array, x: Array) -> None:
    """`1 / sqrt(x)`."""
    np.sqrt(x, out=out)
    np.reciprocal(out, out=out)


def complex_reciprocal(out: Array, x: Array) -> None:
    """`1 / x` of a complex number; 1 / 0 has the real part infinity, unlike np.reciprocal."""
    np.true_divide(ONE[out.dtype.char], x, out=out)


def complex_rsqrt(out: Array, x: Array) -> None:
    """`1 / sqrt(x)` of a complex number."""
    complex_reciprocal(out, np.sqrt(x))


def direction(out: Array, x: Array) -> None:
    """`x / |x|`, and 0 for 0: sgn of a complex number."""
    size = np.absolute(x)
    np.divide(x, np.where(size == 0, 1, size), out=out)


def sgn(out: Array, x: Array) -> None:
    """`(x > 0) - (x < 0)`: 0 for NaN, where np.sign gives NaN, and right for bool, which np.sign refuses."""
    np.subtract(np.greater(x, 0).view(np.int8), np.less(x, 0).view(np.int8), out=out, casting="unsafe")


# The tables -----------------------------------------------------------------------------------------------------

SAME_DTYPE = {
    "neg": Row(np.negative, DIRECT_NOT_BOOL | COMPLEX_DTYPES, WITH_COMPLEX - {bool_}, "neg_cpu"),
    "abs": Row(np.absolute, DIRECT_NOT_BOOL, NOT_BOOL | FLOAT8, "abs_cpu"),
    "sgn": Row(sgn, DIRECT, WITH_COMPLEX, "sign_cpu", on_complex=direction),
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

ON_COMPLEX: dict[str, Loop] = {"reciprocal": complex_reciprocal, "rsqrt": complex_rsqrt}

# The names of PyTorch's kernels in messages, where they are not the operator's name with `_vml_cpu`.
LABELS: dict[Loop, str] = {rsqrt: "rsqrt_cpu", np.reciprocal: "reciprocal_cpu", sigmoid: "sigmoid_cpu_reduced_float"}

ROWS = SAME_DTYPE | {
    name: Row(
        loop,
        DIRECT_FLOATS,
        FLOATING_OR_COMPLEX,
        LABELS.get(loop, f"{name}_vml_cpu"),
        float_result_type,
        on_complex=ON_COMPLEX.get(name),
    )
    for name, loop in FLOATING_POINT.items()
}

for name, row in ROWS.items():
    if name != "abs":
        register_row(UNARY, name, row)

# The absolute value of a complex number is real -----------------------------------------------------------------


def refusing_complex(checked: Kernel) -> Kernel:
    """The kernel of `abs_`."""

    def absolute_(keys: int, self: Tensor) -> Tensor:
        if self.dtype.is_complex:
            raise DtypeError("In-place abs is not supported for complex tensors.")
        return checked(keys, self)

    return absolute_


ABSOLUTE = UNARY["abs"] = ROWS["abs"]
register("abs", with_real_result(kernel_of(shapes.absolute, ABSOLUTE), shapes.absolute, np.absolute), refusing_complex)
