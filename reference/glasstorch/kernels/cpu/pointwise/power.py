"""How is a power computed on the CPU?

Mirrors: aten/src/ATen/native/Pow.cpp, aten/src/ATen/native/cpu/PowKernel.cpp, aten/src/ATen/native/Pow.h (pow_impl)
Differs: ldexp by integers never computes the power of two by itself: 0 times 2 ** 128 is 0, and NaN in PyTorch.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import FLOATING, Number, dtype
from glasstorch.kernels.cpu.pointwise.loops import KERNELS, Row, register, with_numbers
from glasstorch.kernels.iterator import allocate_output, op_math, operand, pointwise
from glasstorch.kernels.pointwise.dtypes import EVERY, WITH_COMPLEX
from glasstorch.kernels.pointwise.formulas import COMPLEX_EXPONENTS, EXPONENTS, FLOAT_EXPONENTS, FORMULAS
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type, result_type

POWER = Row.of(FORMULAS["pow.Tensor_Tensor"])


def easy(exponent: Number, common: dtype) -> str | None:
    """The expression of a power that needs no logarithm; what a dtype does not support is refused."""
    table = COMPLEX_EXPONENTS if common.is_complex else FLOAT_EXPONENTS if common.category >= FLOATING else EXPONENTS
    found = table.get(exponent)
    accepts = POWER.accepts if found is None else EVERY if exponent in (0, 1) else WITH_COMPLEX
    FORMULAS["pow.Tensor_Tensor"].check(common, accepts=accepts)
    return found


def tensor_scalar(keys: int, self: Tensor, exponent: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `x ** 2`; `x ** 0` and `x ** 1` only write, in every dtype."""
    output = allocate_output(shapes.power_scalar(self, exponent)) if out is None else out
    common = result_type(self, exponent)
    expression = easy(exponent, common)
    loop = with_numbers(POWER.loop_for(common), (exponent,), common) if expression is None else numpy_loop(expression)
    return pointwise(loop, common, (self,), output)


def scalar_tensor(keys: int, self: Number, exponent: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `2 ** x`."""
    output = allocate_output(shapes.power_scalar_base(self, exponent)) if out is None else out
    if self == 1 and not isinstance(self, bool):
        return pointwise(numpy_loop("1"), output.dtype, (exponent,), output)
    return KERNELS["pow.Tensor_Tensor"](keys, wrapped_number(self), exponent, out=output)


register("pow.Tensor_Scalar", tensor_scalar)
register("pow.Scalar", scalar_tensor)

# Times a power of 2 -------------------------------------------------------------------------------------------------


def ldexp(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `ldexp.Tensor`; 2 to an integer may overflow a dtype that holds the product."""
    common = float_result_type(self, other)
    if common.is_complex or other.dtype.is_floating_point:
        return KERNELS["mul.Tensor"](keys, self, scalar_tensor(keys, 2.0, other), out=out)
    output = allocate_output(shapes.true_divide(self, other)) if out is None else out
    FORMULAS["exp"].check(common, "ldexp_cpu")
    x = operand(self, common).astype(op_math(common).numpy, copy=False)
    quietly(np.copyto, output.array(), quietly(np.ldexp, x, other.array()), casting="unsafe")
    return output


register("ldexp.Tensor", ldexp)
