"""How are angles, fractions and exponents extracted, and non-finite numbers replaced, on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (angle_kernel, frac_kernel, frexp_kernel, nan_to_num_kernel)
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BAREBONES_UNSIGNED
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import CPU, UNARY, Row, register, register_row
from glasstorch.kernels.iterator import allocate_output, op_math, pointwise
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS, FLOATING, WITH_COMPLEX
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.pointwise import rules
from glasstorch.operators.shapes.promotion import float_result_type
from glasstorch.operators.shapes.scalars import LARGEST

# Fractions and angles --------------------------------------------------------------------------------------------


def frac(out: Array, x: Array) -> None:
    """The fractional part: x minus x truncated."""
    np.subtract(x, np.trunc(x), out=out)


def real_angle(out: Array, x: Array) -> None:
    """Pi below 0, and NaN for NaN; -0 is not below."""
    none = np.isnan(x)
    np.multiply(np.less(x, 0), out.dtype.type(np.pi), out=out)
    if none.any():
        np.copyto(out, np.nan, where=none)


def complex_angle(out: Array, z: Array) -> None:
    """Between -pi and pi."""
    np.arctan2(z.imag, z.real, out=out)


UNSIGNED_TOO = WITH_COMPLEX | BAREBONES_UNSIGNED
ANGLE = Row(
    real_angle,
    DIRECT_FLOATS,
    UNSIGNED_TOO,
    "angle_cpu",
    float_result_type,
    on_complex=complex_angle,
    real_of_complex=True,
)

register_row(UNARY, "frac", Row(frac, DIRECT_FLOATS, FLOATING, "frac_cpu"))
register_row(UNARY, "angle", ANGLE)

# A fraction and a power of two ----------------------------------------------------------------------------------


@structured(CPU, "frexp.Tensor")
def frexp(keys: int, self: Tensor, out: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
    """The kernel of `frexp.Tensor`: exponents of infinity and NaN are 0, as in C."""
    mantissa, exponent = map(allocate_output, rules.frexp(self)) if out is None else out
    if self.dtype not in FLOATING:
        raise not_implemented_for("frexp_cpu", self.dtype)
    fractions, powers = mantissa.array(), exponent.array()
    compute = op_math(self.dtype).numpy.char
    quietly(np.frexp, self.array(), fractions, powers, signature=f"{compute}->{compute}i", casting="unsafe")
    np.copyto(powers, 0, where=~np.isfinite(fractions))
    return named_result("frexp.Tensor", (mantissa, exponent))


# Replacing infinity and NaN --------------------------------------------------------------------------------------


def nan_to_num(
    keys: int, self: Tensor, nan: float | None, posinf: float | None, neginf: float | None, out: Tensor | None = None
) -> Tensor:
    """The kernel of `nan_to_num`: by default 0 replaces NaN, and the largest finite numbers infinities."""
    output = allocate_output(rules.nan_to_num(self, nan, posinf, neginf)) if out is None else out
    if self.dtype not in UNSIGNED_TOO:
        raise not_implemented_for("nan_to_num", self.dtype)
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        np.copyto(output.array(), self.array())
        return output
    largest = LARGEST[self.dtype]
    given = (0.0 if nan is None else nan, largest if posinf is None else posinf, -largest if neginf is None else neginf)
    return pointwise(lambda out, x: replace.run(out, x, *given), self.dtype, (self,), output)


@slot
def replace(out: Array, x: Array, nan: float, posinf: float, neginf: float) -> None:
    """Replace non-finite numbers, in each part of complex ones."""
    out[...] = np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


register("nan_to_num", nan_to_num)
