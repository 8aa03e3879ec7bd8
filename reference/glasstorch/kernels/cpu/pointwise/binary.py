"""Which loops combine two tensors element by element on the CPU?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp
Differs: NumPy's ufuncs are the loops. An integer quotient that overflows wraps around; PyTorch's stops the process.
"""

from __future__ import annotations

from math import prod

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import BAREBONES_UNSIGNED, COMPLEX_DTYPES, FLOAT8, STORED_ONLY, bool_, dtype
from glasstorch.core.errors import IntegerDivisionError, not_implemented_for
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import (
    ALL,
    BINARY,
    DIRECT,
    DIRECT_FLOATS,
    DIRECT_NOT_BOOL,
    EVERY,
    FLOATING_OR_COMPLEX,
    NOT_BOOL,
    WHOLE_NUMBERS,
    WITH_COMPLEX,
    Kernel,
    Row,
    kernel_of,
    register,
    register_row,
    register_with_number,
)
from glasstorch.kernels.iterator import Loop
from glasstorch.kernels.number_operands import number_first
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type, result_type

# Loops of several steps, called as loop(out, x, y) --------------------------------------------------------------


def refuse_zero_divisor(out: Array, divisor: Array) -> None:
    """Refuse a zero among integer divisors: integers have no infinity to return."""
    if out.dtype.kind != "f" and out.size and not divisor.all():
        raise IntegerDivisionError("ZeroDivisionError")


@slot
def whole_division(ufunc: np.ufunc, out: Array, x: Array, y: Array) -> None:
    """np.floor_divide, np.remainder or np.fmod; a remainder of 0 has the dividend's sign, as in C."""
    if ufunc is np.remainder and out.dtype.kind == "f":  # NumPy's 0 has the divisor's sign
        rest = np.remainder(x, y)
        out[...] = np.copysign(rest, x, out=rest, where=rest == 0)
    else:
        ufunc(x, y, out=out)


def dividing(ufunc: np.ufunc) -> Loop:
    """The loop of a division, which refuses integer zeros."""

    def loop(out: Array, x: Array, y: Array) -> None:
        refuse_zero_divisor(out, y)
        whole_division.run(ufunc, out, x, y)

    return loop


floor_divide = dividing(np.floor_divide)
remainder = dividing(np.remainder)


def trunc_divide(out: Array, x: Array, y: Array) -> None:
    """The quotient rounded towards 0."""
    refuse_zero_divisor(out, y)
    if out.dtype.kind == "f":
        np.trunc(np.true_divide(x, y, out=out), out=out)
    else:  # the rest is a multiple of y, so that its division is exact
        np.floor_divide(np.subtract(x, np.fmod(x, y)), y, out=out)


def lcm(out: Array, x: Array, y: Array) -> None:
    """The least common multiple; on overflow, the absolute value of the product wrapped in int32 or wider."""
    divisor = np.gcd(x, y)
    whole = np.floor_divide(x, np.where(divisor == 0, 1, divisor), dtype=divisor.dtype)
    out[...] = np.absolute(np.multiply(whole, y, dtype=np.promote_types(divisor.dtype, np.int32)))


def heaviside(out: Array, x: Array, values: Array) -> None:
    """0 below 0, 1 above, `values` at 0; 0 for NaN, where np.heaviside gives NaN."""
    out[...] = np.where(np.equal(x, 0), values, np.greater(x, 0))


def tanh_backward(out: Array, grad: Array, y: Array) -> None:
    """`grad * (1 - y * y)`."""
    np.multiply(grad, np.subtract(1, np.multiply(y, y)), out=out)


def sigmoid_backward(out: Array, grad: Array, y: Array) -> None:
    """`grad * (1 - y) * y`."""
    np.multiply(grad, np.multiply(np.subtract(1, y), y), out=out)


def complex_tanh_backward(out: Array, grad: Array, y: Array) -> None:
    """As `tanh_backward`, with the gradient's factor conjugated."""
    np.multiply(grad, np.conjugate(np.subtract(1, np.multiply(y, y))), out=out)


def complex_sigmoid_backward(out: Array, grad: Array, y: Array) -> None:
    """As `sigmoid_backward`, with the gradient's factor conjugated."""
    np.multiply(grad, np.conjugate(np.multiply(np.subtract(1, y), y)), out=out)


def type_of_product(self: Tensor, other: Tensor) -> dtype:
    """The common dtype; 8-bit floats multiply tensors of the same size, but not single numbers."""
    common = result_type(self, other)
    if common in FLOAT8 and prod(other._shape) == 1:
        raise not_implemented_for("mul_cpu_reduced_float", common)
    return common


def add_scaled(out: Array, x: Array, y: Array, alpha: Array) -> None:
    """`x + alpha * y`."""
    np.add(x, np.multiply(y, alpha), out=out)


def subtract_scaled(out: Array, x: Array, y: Array, alpha: Array) -> None:
    """`x - alpha * y`."""
    np.subtract(x, np.multiply(y, alpha), out=out)


INTEGERS = DIRECT_NOT_BOOL - DIRECT_FLOATS

# The tables -----------------------------------------------------------------------------------------------------

BITWISE = {
    "bitwise_and": Row(np.bitwise_and, WHOLE_NUMBERS, WHOLE_NUMBERS, "bitwise_and_cpu"),
    "bitwise_or": Row(np.bitwise_or, WHOLE_NUMBERS, WHOLE_NUMBERS, "bitwise_or_cpu"),
    "bitwise_xor": Row(np.bitwise_xor, WHOLE_NUMBERS, WHOLE_NUMBERS, "bitwise_xor_cpu"),
}

ARITHMETIC = {
    "add.Tensor": Row(np.add, DIRECT | COMPLEX_DTYPES, WITH_COMPLEX, "add_stub", scaled=add_scaled),
    "sub.Tensor": Row(np.subtract, DIRECT_NOT_BOOL | COMPLEX_DTYPES, WITH_COMPLEX, "add_stub", scaled=subtract_scaled),
    "mul.Tensor": Row(
        np.multiply, DIRECT | COMPLEX_DTYPES | BAREBONES_UNSIGNED, EVERY, common=type_of_product, exact_number=True
    ),
    "div.Tensor": Row(
        np.true_divide, DIRECT_FLOATS, FLOATING_OR_COMPLEX, "div_cpu", float_result_type, exact_number=True
    ),
    "floor_divide": Row(floor_divide, DIRECT_NOT_BOOL, NOT_BOOL, "div_floor_cpu", exact_number=True),
    "remainder.Tensor": Row(remainder, DIRECT_NOT_BOOL, NOT_BOOL, "remainder_cpu"),
    "maximum": Row(np.maximum, DIRECT, ALL, "maximum_cpu"),
    "minimum": Row(np.minimum, DIRECT, ALL, "minimum_cpu"),
    "fmax": Row(np.fmax, DIRECT, ALL, "fmax_cpu"),
    "fmin": Row(np.fmin, DIRECT, ALL, "fmin_cpu"),
    "heaviside": Row(heaviside, DIRECT, ALL, "heaviside_cpu"),
    "gcd": Row(np.gcd, INTEGERS, INTEGERS, "gcd_cpu"),
    "lcm": Row(lcm, INTEGERS, INTEGERS, "lcm_cpu"),
    **{f"{name}.Tensor": row for name, row in BITWISE.items()},
    "tanh_backward": Row(
        tanh_backward, DIRECT_FLOATS, FLOATING_OR_COMPLEX, "tanh_backward_cpu", on_complex=complex_tanh_backward
    ),
    "sigmoid_backward": Row(
        sigmoid_backward,
        DIRECT_FLOATS,
        FLOATING_OR_COMPLEX,
        "sigmoid_backward_cpu",
        on_complex=complex_sigmoid_backward,
    ),
}

EQUALITIES = {"eq": np.equal, "ne": np.not_equal}
# Orderings, which complex numbers do not have.
ORDERS = {"lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal}
COMPARISONS = EQUALITIES | ORDERS

KERNELS: dict[str, Kernel] = {name: register_row(BINARY, name, row) for name, row in ARITHMETIC.items()}

for name, ufunc in COMPARISONS.items():
    row = Row(ufunc, DIRECT, ALL, f"{name}_cpu", produces=bool_)
    if name in EQUALITIES:
        row = Row(ufunc, DIRECT | COMPLEX_DTYPES | STORED_ONLY, EVERY, produces=bool_)
    compare = register_row(BINARY, f"{name}.Tensor", row, shapes.comparison)
    register_with_number(f"{name}.Scalar", f"{name}.Tensor", compare)

for name in BITWISE:
    register_with_number(f"{name}.Scalar", f"{name}.Tensor", KERNELS[f"{name}.Tensor"])
    register(f"{name}.Scalar_Tensor", number_first(KERNELS[f"{name}.Tensor"]))

# Division with a rounding mode: one of three kernels
TRUNC_DIVIDE = Row(trunc_divide, DIRECT_NOT_BOOL, NOT_BOOL, "div_trunc_cpu")
DIVISIONS: dict[str | None, Kernel] = {
    None: KERNELS["div.Tensor"],
    "floor": KERNELS["floor_divide"],
    "trunc": kernel_of(shapes.binary, TRUNC_DIVIDE),
}


def divide_mode(keys: int, self: Tensor, other: Tensor, rounding_mode: str | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `div.Tensor_mode`."""
    if rounding_mode not in DIVISIONS:
        shapes.divide_mode(self, other, rounding_mode)  # raises the error
    return DIVISIONS[rounding_mode](keys, self, other, out=out)


register("div.Tensor_mode", divide_mode)

# relu is the maximum with 0; NaN stays --------------------------------------------------------------------------

RELU = Row(np.maximum, DIRECT, NOT_BOOL, "clamp_min_scalar_cpu")
ZERO = {d: wrap(np.zeros((), d.numpy), d) for d in NOT_BOOL}


def relu(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `relu`."""
    if self.dtype not in ZERO:
        shapes.relu(self)  # refuses bool and complex
        RELU.check(self.dtype)
    return KERNELS["maximum"](keys, self, ZERO[self.dtype], out=out)


register("relu", relu)
