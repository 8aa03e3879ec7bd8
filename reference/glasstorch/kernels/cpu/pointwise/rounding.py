"""How are rounding, signs, remainders and adjacent floats computed on the CPU?

Mirrors: aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (ceil, floor, round, trunc, sign),
    aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (copysign, nextafter, fmod), aten/src/ATen/native/UnaryOps.cpp
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BAREBONES_UNSIGNED
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import (
    BINARY,
    UNARY,
    Row,
    kernel_of,
    register,
    register_row,
    register_with_number,
)
from glasstorch.kernels.cpu.pointwise.steps import dividing, sgn
from glasstorch.kernels.iterator import Loop, allocate_output, operand, pointwise
from glasstorch.kernels.pointwise.dtypes import (
    ALL,
    DIRECT,
    DIRECT_FLOATS,
    DIRECT_NOT_BOOL,
    FLOATING,
    NOT_BOOL,
)
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import check_writable, shape_function
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type, result_type

# Rounding: integers are unchanged -------------------------------------------------------------------------


def round_half_to_even(out: Array, x: Array) -> None:
    """The nearest whole number, the even one of two: np.rint, which would turn integers into floats."""
    if out.dtype.kind == "f":
        np.rint(x, out=out)
    else:
        out[...] = x


ROUNDING: dict[str, Loop] = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": round_half_to_even}
ROUNDED = NOT_BOOL | BAREBONES_UNSIGNED


def register_rounding(name: str, loop: Loop) -> None:
    """Register a rounding operator; for integers it is a copy, which checks out= for overlap after resizing it."""
    row = Row(loop, DIRECT_FLOATS, ROUNDED, f"{name}_vml_cpu")
    rounded = kernel_of(shape_function(name), row)

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if out is not None and not self.dtype.is_floating_point:
            check_writable(out, (self,))
        return rounded(keys, self, out=out)

    UNARY[name] = row
    register(name, kernel)


for name, loop in ROUNDING.items():
    register_rounding(name, loop)


def round_decimals(keys: int, self: Tensor, decimals: int, out: Tensor | None = None) -> Tensor:
    """The kernel of `round.decimals`: scaled, rounded, and scaled back."""
    output = allocate_output(shapes.unary(self)) if out is None else out
    if self.dtype not in FLOATING:
        raise not_implemented_for("round_cpu", self.dtype)
    return pointwise(round_to(decimals), self.dtype, (self,), output)


def round_to(decimals: int) -> Loop:
    """A loop that rounds to a number of decimal digits, negative for digits before the point."""
    there, back = (np.multiply, np.divide) if decimals >= 0 else (np.divide, np.multiply)

    def loop(out: Array, x: Array) -> None:
        power = out.dtype.type(np.float64(10) ** abs(decimals))  # infinity, where Python would refuse
        back(np.rint(there(x, power)), power, out=out)

    return loop


register("round.decimals", round_decimals)

# Signs ----------------------------------------------------------------------------------------------------------

register_row(UNARY, "sign", Row(sgn, DIRECT, ALL, "sign_cpu"))

register_row(BINARY, "copysign.Tensor", Row(np.copysign, DIRECT_FLOATS, FLOATING, "copysign_cpu", float_result_type))
register_with_number("copysign.Scalar", "copysign.Tensor")

# Remainders and neighbours --------------------------------------------------------------------------------------

register_row(BINARY, "fmod.Tensor", Row(dividing(np.fmod), DIRECT_NOT_BOOL, NOT_BOOL, "fmod_cpu"))
register_with_number("fmod.Scalar", "fmod.Tensor")


def nextafter(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `nextafter`: the adjacent number in the operands' own dtype, so nothing is upcast."""
    output = allocate_output(shapes.binary(self, other)) if out is None else out
    common = result_type(self, other)
    if common not in FLOATING:
        raise not_implemented_for("nextafter_cpu", common)
    x, y = (quietly(np.asarray, operand(tensor, common), common.numpy) for tensor in (self, other))
    quietly(np.copyto, output.array(), quietly(np.nextafter, x, y), casting="unsafe")
    return output


register("nextafter", nextafter)
