"""How is a power computed on the CPU?

Mirrors: aten/src/ATen/native/Pow.cpp, aten/src/ATen/native/cpu/PowKernel.cpp, aten/src/ATen/native/Pow.h (pow_impl)
Differs: ldexp by integers never computes the power of two by itself: 0 times 2 ** 128 is 0, and NaN in PyTorch.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import FLOATING, Number, bool_
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.binary import KERNELS
from glasstorch.kernels.cpu.pointwise.loops import (
    BINARY,
    DIRECT_NOT_BOOL,
    EVERY,
    FLOATING_OR_COMPLEX,
    WITH_COMPLEX,
    Row,
    register,
    register_row,
    with_number,
)
from glasstorch.kernels.cpu.pointwise.unary import complex_reciprocal, complex_rsqrt, rsqrt
from glasstorch.kernels.iterator import Loop, allocate_output, op_math, operand, pointwise
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type, result_type
from glasstorch.operators.shapes.scalars import number_as

# Loops of several steps, called as loop(out, x) or loop(out, x, exponent) ---------------------------------------


def power(out: Array, x: Array, exponent: Array) -> None:
    """`x ** exponent`; an integer whose exponent is negative becomes 0, unless its inverse is an integer."""
    if out.dtype.kind != "i" or not (negative := np.less(exponent, 0)).any():
        np.power(x, exponent, out=out)
        return
    inverse = np.where(np.equal(x, 1), 1, np.where(np.equal(x, -1), 1 - 2 * np.bitwise_and(exponent, 1), 0))
    out[...] = np.where(negative, inverse, np.power(x, np.maximum(exponent, 0)))


def complex_power(out: Array, x: Array, exponent: Array) -> None:
    """`x ** exponent` of complex numbers; a power of 0 is `exp(exponent * log(0))`, as in C: 0 ** 0 is NaN.

    NumPy's NaN is replaced by that formula too: NumPy multiplies out small integer powers, which may overflow.
    """
    result = np.power(x, exponent)
    if (lost := np.equal(x, 0) | np.isnan(result)).any():
        np.copyto(result, np.exp(np.multiply(np.log(x), exponent)), where=lost)
    out[...] = result


def ones(out: Array, x: Array) -> None:
    """`x ** 0`, of NaN too."""
    out[...] = 1


def same(out: Array, x: Array) -> None:
    """`x ** 1`."""
    out[...] = x


def cube(out: Array, x: Array) -> None:
    """`x ** 3`."""
    np.multiply(np.multiply(x, x), x, out=out)


def inverse_square(out: Array, x: Array) -> None:
    """`x ** -2`."""
    np.multiply(x, x, out=out)
    np.reciprocal(out, out=out)


def complex_inverse_square(out: Array, x: Array) -> None:
    """`x ** -2` of a complex number."""
    complex_reciprocal(out, np.multiply(x, x))


# The tables -----------------------------------------------------------------------------------------------------

# Exponents that need no logarithm: for all dtypes, then for floats.
EXPONENTS: dict[Number, Loop] = {0: ones, 1: same, 2: np.square, 3: cube}
FLOAT_EXPONENTS: dict[Number, Loop] = EXPONENTS | {0.5: np.sqrt, -0.5: rsqrt, -1: np.reciprocal, -2: inverse_square}
COMPLEX_LOOPS: dict[Loop, Loop] = {
    np.reciprocal: complex_reciprocal,
    rsqrt: complex_rsqrt,
    inverse_square: complex_inverse_square,
}
ROW = Row(power, DIRECT_NOT_BOOL, WITH_COMPLEX - {bool_}, "pow", on_complex=complex_power)
EASY = Row(same, frozenset(), WITH_COMPLEX, "pow")  # powers that are products, also of bool
FILLS = Row(same, frozenset(), EVERY, "pow")  # `x ** 0` and `x ** 1` only write: in every dtype
tensor_tensor = register_row(BINARY, "pow.Tensor_Tensor", ROW, shapes.power)


def tensor_scalar(keys: int, self: Tensor, exponent: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `x ** 2`."""
    output = allocate_output(shapes.power_scalar(self, exponent)) if out is None else out
    common = result_type(self, exponent)
    loop = (FLOAT_EXPONENTS if common.category >= FLOATING else EXPONENTS).get(exponent)
    if loop is None:
        ROW.check(common)
        loop = with_number(ROW.loop_for(common), number_as(exponent, common), op_math(common))
        return pointwise(loop, common, (self,), output)
    (FILLS if loop in (ones, same) else EASY).check(common)
    return pointwise(COMPLEX_LOOPS.get(loop, loop) if common.is_complex else loop, common, (self,), output)


def scalar_tensor(keys: int, self: Number, exponent: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `2 ** x`."""
    output = allocate_output(shapes.power_scalar_base(self, exponent)) if out is None else out
    if self == 1 and not isinstance(self, bool):
        return pointwise(ones, output.dtype, (exponent,), output)
    return tensor_tensor(keys, wrapped_number(self), exponent, out=output)


register("pow.Tensor_Scalar", tensor_scalar)
register("pow.Scalar", scalar_tensor)

# Times a power of 2 -------------------------------------------------------------------------------------------------

MULTIPLY = KERNELS["mul.Tensor"]
LDEXP = Row(np.ldexp, frozenset(), FLOATING_OR_COMPLEX, "ldexp_cpu")


def ldexp(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `ldexp.Tensor`; 2 to an integer may overflow a dtype that holds the product."""
    common = float_result_type(self, other)
    if common.is_complex or other.dtype.is_floating_point:
        return MULTIPLY(keys, self, scalar_tensor(keys, 2.0, other), out=out)
    output = allocate_output(shapes.true_divide(self, other)) if out is None else out
    LDEXP.check(common)
    x = operand(self, common).astype(op_math(common).numpy, copy=False)
    quietly(np.copyto, output.array(), quietly(np.ldexp, x, other.array()), casting="unsafe")
    return output


register("ldexp.Tensor", ldexp)
