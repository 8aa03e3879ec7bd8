"""How are rounding, signs, remainders and adjacent floats computed on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (ceil, floor, round, trunc, sign, signbit),
    aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (copysign, nextafter, fmod), aten/src/ATen/native/UnaryOps.cpp
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BAREBONES_UNSIGNED, FLOAT8
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise import exact_division
from glasstorch.kernels.cpu.pointwise.loops import (
    ALL,
    BINARY,
    DIRECT,
    DIRECT_FLOATS,
    DIRECT_NOT_BOOL,
    EVERY,
    FLOATING,
    NOT_BOOL,
    UNARY,
    Kernel,
    Row,
    kernel_of,
    register,
    register_row,
    register_with_number,
)
from glasstorch.kernels.cpu.pointwise.steps import or_exactly, sgn
from glasstorch.kernels.iterator import Loop, allocate_output, operand
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import check_writable, shape_function
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type, result_type

# Rounding: integers are unchanged -------------------------------------------------------------------------


def rounding(ufunc: np.ufunc) -> Loop:
    """A loop that rounds floats and copies integers."""

    def loop(out: Array, x: Array) -> None:
        if out.dtype.kind == "f":
            ufunc(x, out=out)
        else:
            out[...] = x

    return loop


ROUNDING = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.rint}
ROUNDED = NOT_BOOL | BAREBONES_UNSIGNED


def register_rounding(name: str, ufunc: np.ufunc) -> None:
    """Register a rounding operator; for integers it is a copy, which checks out= for overlap after resizing it."""
    row = Row(rounding(ufunc), DIRECT_FLOATS, ROUNDED, f"{name}_vml_cpu")
    rounded = kernel_of(shape_function(name), row)

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if out is not None and not self.dtype.is_floating_point:
            check_writable(out, (self,))
        return rounded(keys, self, out=out)

    UNARY[name] = row
    register(name, kernel)


for name, ufunc in ROUNDING.items():
    register_rounding(name, ufunc)


def round_decimals(keys: int, self: Tensor, decimals: int, out: Tensor | None = None) -> Tensor:
    """The kernel of `round.decimals`: scaled, rounded, and scaled back."""
    row = Row(round_to(decimals), DIRECT_FLOATS, FLOATING, "round_cpu")
    return kernel_of(shapes.unary, row)(keys, self, out=out)


def round_to(decimals: int) -> Loop:
    """A loop that rounds to a number of decimal digits, negative for digits before the point."""

    def loop(out: Array, x: Array) -> None:
        power = out.dtype.type(10.0 ** abs(decimals))
        there, back = (np.multiply, np.divide) if decimals >= 0 else (np.divide, np.multiply)
        back(np.rint(there(x, power)), power, out=out)

    return loop


register("round.decimals", round_decimals)

# Signs ----------------------------------------------------------------------------------------------------------


def signbit(out: Array, x: Array) -> None:
    """Whether the sign bit is set; for integers, whether they are negative."""
    if x.dtype.kind == "f":
        np.signbit(x, out=out)
    else:
        np.less(x, 0, out=out)


def is_infinity(value: float) -> Loop:
    """A loop that tests for one of the two infinities, which integers do not have."""
    return lambda out, x: np.equal(x, value, out=out) if x.dtype.kind == "f" else out.fill(False)


PREDICATES: dict[str, Loop] = {
    "signbit": signbit,
    "isposinf": is_infinity(np.inf),
    "isneginf": is_infinity(-np.inf),
}

register_row(UNARY, "sign", Row(sgn, DIRECT, ALL, "sign_cpu"))


def predicate_kernel(name: str, loop: Loop) -> Kernel:
    """The kernel of a predicate, with a bool for each element."""
    shape, row = shape_function(name), Row(loop, frozenset(), EVERY - FLOAT8, f"{name}_cpu")

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        row.check(self.dtype)
        output = allocate_output(shape(self)) if out is None else out
        x, written = self.array(), output.array()
        if self.dtype.name == "bfloat16":
            x = x.astype(np.float32)
        quietly(loop, written if written.ndim else written[None], x)
        return output

    return kernel


for name, loop in PREDICATES.items():
    register(name, predicate_kernel(name, loop))

COPYSIGN = Row(np.copysign, DIRECT_FLOATS, FLOATING, "copysign_cpu", float_result_type)
copysign = register_row(BINARY, "copysign.Tensor", COPYSIGN, shapes.true_divide)

# Remainders and neighbours --------------------------------------------------------------------------------------


@or_exactly(exact_division.fmod)
def fmod(out: Array, x: Array, y: Array) -> None:
    """The remainder of the quotient rounded towards 0; it has the dividend's sign."""
    np.fmod(x, y, out=out)


FMOD = Row(fmod, DIRECT_NOT_BOOL, NOT_BOOL, "fmod_cpu")
truncated_remainder = register_row(BINARY, "fmod.Tensor", FMOD, shapes.binary)

NEXTAFTER = Row(np.nextafter, DIRECT_FLOATS, FLOATING, "nextafter_cpu")


def nextafter(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `nextafter`: the adjacent number in the operands' own dtype, so nothing is upcast."""
    output = allocate_output(shapes.binary(self, other)) if out is None else out
    common = result_type(self, other)
    NEXTAFTER.check(common)
    x, y = (quietly(np.asarray, operand(tensor, common), common.numpy) for tensor in (self, other))
    quietly(np.copyto, output.array(), quietly(np.nextafter, x, y), casting="unsafe")
    return output


register("nextafter", nextafter)

register_with_number("copysign.Scalar", "copysign.Tensor", copysign)
register_with_number("fmod.Scalar", "fmod.Tensor", truncated_remainder)
