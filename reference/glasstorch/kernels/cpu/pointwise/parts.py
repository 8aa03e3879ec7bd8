"""How are angles, fractions and exponents extracted, and non-finite numbers replaced, on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (angle_kernel, frac_kernel, frexp_kernel, nan_to_num_kernel)
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BAREBONES_UNSIGNED, COMPLEX_DTYPES, dtype
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import (
    ALL,
    CPU,
    DIRECT_FLOATS,
    FLOATING,
    UNARY,
    WITH_COMPLEX,
    Row,
    kernel_of,
    register,
    register_row,
    with_real_result,
)
from glasstorch.kernels.iterator import Loop, allocate_output, op_math, pointwise
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.pointwise import rules
from glasstorch.operators.shapes.promotion import float_result_type
from glasstorch.operators.shapes.scalars import LARGEST

# Loops, called as loop(out, x) ----------------------------------------------------------------------------------


def frac(out: Array, x: Array) -> None:
    """The fractional part: x minus x truncated."""
    np.subtract(x, np.trunc(x), out=out)


def half_turn(out: Array, x: Array) -> None:
    """The angle of a real number: pi below 0, and NaN for NaN; -0 is not below."""
    none = np.isnan(x)
    np.multiply(np.less(x, 0), out.dtype.type(np.pi), out=out)
    if none.any():
        np.copyto(out, np.nan, where=none)


register_row(UNARY, "frac", Row(frac, DIRECT_FLOATS, FLOATING, "frac_cpu"))

ANGLE = Row(half_turn, DIRECT_FLOATS, ALL | COMPLEX_DTYPES | BAREBONES_UNSIGNED, "angle_cpu", float_result_type)
real_angle = kernel_of(rules.angle, ANGLE)


def angle_of(out: Array, x: Array) -> None:
    """The angle of a complex number, between -pi and pi."""
    np.arctan2(x.imag, x.real, out=out)


UNARY["angle"] = ANGLE
register("angle", with_real_result(real_angle, rules.angle, angle_of))

# A fraction and a power of two ----------------------------------------------------------------------------------

FREXP = Row(np.frexp, DIRECT_FLOATS, FLOATING, "frexp_cpu")


def frexp(keys: int, self: Tensor, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
    """The kernel of `frexp.Tensor`: exponents of infinity and NaN are 0, as in C."""
    mantissa, exponent = map(allocate_output, rules.frexp(self)) if out is None else out
    FREXP.check(self.dtype)
    fractions, powers = mantissa.array(), exponent.array()
    compute = op_math(self.dtype).numpy.char
    quietly(np.frexp, self.array(), fractions, powers, signature=f"{compute}->{compute}i", casting="unsafe")
    np.copyto(powers, 0, where=~np.isfinite(fractions))
    return named_result("frexp.Tensor", (mantissa, exponent))


structured(CPU, "frexp.Tensor", frexp)

# Replacing infinity and NaN --------------------------------------------------------------------------------------

NAN_TO_NUM = Row(np.nan_to_num, frozenset(), WITH_COMPLEX | BAREBONES_UNSIGNED, "nan_to_num")


def nan_to_num(
    keys: int,
    self: Tensor,
    nan: float | None,
    posinf: float | None,
    neginf: float | None,
    out: Tensor | None = None,
) -> Tensor:
    """The kernel of `nan_to_num`."""
    output = allocate_output(rules.nan_to_num(self, nan, posinf, neginf)) if out is None else out
    NAN_TO_NUM.check(self.dtype)
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        np.copyto(output.array(), self.array())
        return output
    return pointwise(replacing(self.dtype, nan, posinf, neginf), self.dtype, (self,), output)


def replacing(common: dtype, nan: float | None, posinf: float | None, neginf: float | None) -> Loop:
    """The loop that replaces non-finite numbers: by default NaN with 0, infinities with the largest finite ones."""
    largest = LARGEST[common]
    real = op_math(common).to_real().numpy
    given = (0.0 if nan is None else nan, largest if posinf is None else posinf, -largest if neginf is None else neginf)
    for_nan, for_infinity, for_negative = (quietly(np.array, value, real) for value in given)

    def replaced(x: Array) -> Array:
        if np.isfinite(x).all():
            return x
        signed = np.where(np.signbit(x), for_negative, for_infinity)
        return np.where(np.isfinite(x), x, np.where(np.isnan(x), for_nan, signed))

    def loop(out: Array, x: Array) -> None:
        if out.dtype.kind == "c":
            out.real, out.imag = replaced(x.real), replaced(x.imag)
        else:
            out[...] = replaced(x)

    return loop


register("nan_to_num", nan_to_num)
