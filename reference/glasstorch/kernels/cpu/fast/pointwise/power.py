"""How are powers by some numbers, and products with powers of 2, computed in few steps?

Mirrors: aten/src/ATen/native/cpu/PowKernel.cpp (pow_tensor_scalar_optimized_kernel)
"""

from __future__ import annotations

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import Number
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast.pointwise.loops import BINARY, plain_kernel, unary
from glasstorch.kernels.cpu.pointwise import power
from glasstorch.kernels.cpu.pointwise.loops import Kernel, Row
from glasstorch.kernels.iterator import Loop
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS
from glasstorch.kernels.pointwise.formulas import FLOAT_EXPONENTS
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop

plain_power, plain_ldexp = plain_kernel("pow.Tensor_Scalar"), plain_kernel("ldexp.Tensor")
plain_power_of_base = plain_kernel("pow.Scalar")


def of_exponent(exponent: Number, loop: Loop) -> Kernel:
    """The kernel of `x ** exponent`, for an exponent that has a loop of its own."""
    return unary(Row(loop, DIRECT_FLOATS), lambda keys, self, out: plain_power(keys, self, exponent))


POWERS = {exponent: of_exponent(exponent, numpy_loop(line)) for exponent, line in FLOAT_EXPONENTS.items()}


@fast("pow.Tensor_Scalar", when="a row-major tensor of floats and -2 ... 3 or 0.5", benchmark="1e6: mul", exact="bits")
def power_of_number(keys: int, self: Tensor, exponent: Number) -> Tensor:
    """The short path of the loop that an exponent has."""
    # A complex exponent gives a complex result for floats, and 0j would match the key 0.
    if self.dtype.is_floating_point and type(exponent) is not complex and (kernel := POWERS.get(exponent)) is not None:
        return kernel(keys, self)
    return plain_power(keys, self, exponent)


@fast("pow.Scalar", when="a row-major tensor, and a number other than 1", benchmark="`2 ** a`, 8 floats", exact="bits")
def power_of_base(keys: int, self: Number, exponent: Tensor) -> Tensor:
    """The short path of a power of two tensors."""
    if exponent._strides is None and (self != 1 or type(self) is bool):
        return BINARY["pow.Tensor_Tensor"](keys, wrapped_number(self), exponent)
    return plain_power_of_base(keys, self, exponent)


@fast("ldexp.Tensor", when="the exponents are floats", benchmark="1e6: mul", exact="bits")
def ldexp(keys: int, self: Tensor, other: Tensor) -> Tensor:
    """The short path of the product."""
    if other.dtype.is_floating_point:
        return BINARY["mul.Tensor"](keys, self, power.scalar_tensor(keys, 2.0, other))
    return plain_ldexp(keys, self, other)
