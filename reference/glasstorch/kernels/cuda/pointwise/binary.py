"""Which expressions combine two tensors element by element on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/CUDALoops.cuh and, beside it, BinaryInternal.h, BinaryMulKernel.cu,
    BinaryDivTrueKernel.cu, BinaryDivFloorKernel.cu, BinaryDivTruncKernel.cu, BinaryRemainderKernel.cu,
    BinaryBitwiseOpsKernels.cu, BinaryMiscBackwardOpsKernels.cu, CompareEQKernel.cu, CompareKernels.cu,
    MaxMinElementwiseKernel.cu
Differs: an integer quotient or remainder by 0, which may be anything in PyTorch, is -1 or 0. As in PyTorch, CUDA
    differs from the CPU: division by a number multiplies by its inverse, which may cost the last bit; integer floor
    division by 0 (except of uint8) is a device-side assert, and other integer divisions by 0 are no error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, uint8
from glasstorch.kernels.cuda.pointwise.expressions import (
    FLOATING,
    INTEGRAL_OR_BOOL,
    NOT_BOOL,
    Kernel,
    Row,
    binary_kernel,
    computed_in,
    kernels_of,
    register,
    run,
    value_of,
)
from glasstorch.kernels.cuda.tensors import is_number
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.number_operands import with_wrapped_number
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type, result_type
from glasstorch.operators.shapes.scalars import number_as

EITHER = frozenset((0, 1))  # both operands may be numbers
SECOND = frozenset((1,))

# The tables -----------------------------------------------------------------------------------------------------

ADD = Row("a + p * b", 2, label="add_cuda", numbers=EITHER, exact=EITHER)
SUBTRACT = Row("a - p * b", 2, NOT_BOOL, "sub_cuda", numbers=EITHER, exact=EITHER)
MULTIPLY = Row("a * b", 2, label="mul_cuda", numbers=EITHER, exact=EITHER)

# `p` is the inverse of b where b is one number, else 0: see arithmetic.cuh
TRUE_DIVIDE = Row("p != 0 ? a * p : a / b", 2, FLOATING, "div_true_cuda", float_result_type, EITHER, SECOND)
FLOOR_DIVIDE = Row("floor_quotient(a, b, p)", 2, NOT_BOOL, "div_floor_cuda", numbers=EITHER, exact=SECOND)
TRUNC_DIVIDE = Row("trunc_quotient(a, b, p)", 2, NOT_BOOL, "div_trunc_cuda", numbers=EITHER, exact=SECOND)

BITWISE = {
    "bitwise_and": Row("a & b", 2, INTEGRAL_OR_BOOL, "bitwise_and_cuda", numbers=EITHER),
    "bitwise_or": Row("a | b", 2, INTEGRAL_OR_BOOL, "bitwise_or_cuda", numbers=EITHER),
    "bitwise_xor": Row("a ^ b", 2, INTEGRAL_OR_BOOL, "bitwise_xor_cuda", numbers=EITHER),
}
BINARY = {
    "remainder.Tensor": Row("remainder_of_floor(a, b)", 2, NOT_BOOL, "remainder_cuda", numbers=EITHER),
    "maximum": Row("larger(a, b)", 2, label="max_elementwise_cuda", numbers=EITHER),
    "minimum": Row("smaller(a, b)", 2, label="min_elementwise_cuda", numbers=EITHER),
    **{f"{name}.Tensor": row for name, row in BITWISE.items()},
    "tanh_backward": Row("a * (1 - b * b)", 2, FLOATING, "tanh_backward_cuda"),
    "sigmoid_backward": Row("a * (1 - b) * b", 2, FLOATING, "sigmoid_backward_cuda"),
}


def comparison(expression: str) -> Row:
    """A comparison of two tensors, either of which may be a number."""
    return Row(expression, 2, label="compare_cuda", numbers=EITHER)


COMPARISON_ROWS = {
    "eq": comparison("a == b"),
    "ne": comparison("a != b"),
    "lt": comparison("a < b"),
    "gt": comparison("a > b"),
    "le": comparison("a <= b"),
    "ge": comparison("a >= b"),
}

KERNELS: dict[str, Kernel] = {}

for name, row in BINARY.items():
    KERNELS[name] = register(name, binary_kernel(shape_function(name), row))
KERNELS["mul.Tensor"] = register("mul.Tensor", binary_kernel(shapes.binary, MULTIPLY))

for name, row in COMPARISON_ROWS.items():
    compare = register(f"{name}.Tensor", binary_kernel(shapes.comparison, row))
    register(f"{name}.Scalar", with_wrapped_number(compare))

for name in BITWISE:
    register(f"{name}.Scalar", with_wrapped_number(KERNELS[f"{name}.Tensor"]))

# Sums, whose second term has the factor p ------------------------------------------------------------------------


def with_alpha(name: str, row: Row) -> Kernel:
    """The kernel of `add.Tensor` or `sub.Tensor`."""
    shape = shape_function(name)

    def kernel(keys: int, self: Tensor, other: Tensor, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
        result = shape(self, other, alpha) if out is None else None
        common = result_type(self, other)
        return run(row, result, (self, other), out, (number_as(alpha, op_math(common)),), common)

    return kernel


register("add.Tensor", with_alpha("add.Tensor", ADD))
register("sub.Tensor", with_alpha("sub.Tensor", SUBTRACT))

# Divisions: by one number, they multiply by its inverse ---------------------------------------------------------


def divide(row: Row, self: Tensor, other: Tensor, out: Tensor | None) -> Tensor:
    """The quotient as a row of the table rounds it."""
    result = None
    if out is None:
        result = (shapes.true_divide if row is TRUE_DIVIDE else shapes.binary)(self, other)
    common = row.common(self, other)
    if row is FLOOR_DIVIDE and common is uint8:
        row = TRUNC_DIVIDE  # the same result, without an assert
    inverse = 0
    if is_number(other) and common.is_floating_point:
        compute = computed_in(common)
        inverse = quietly(np.reciprocal, value_of(other, common, compute, exact=True))
    return run(row, result, (self, other), out, (inverse,), common)


def divide_true(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `div.Tensor`."""
    return divide(TRUE_DIVIDE, self, other, out)


def divide_floor(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `floor_divide`."""
    return divide(FLOOR_DIVIDE, self, other, out)


DIVISIONS = {None: TRUE_DIVIDE, "floor": FLOOR_DIVIDE, "trunc": TRUNC_DIVIDE}


def divide_mode(keys: int, self: Tensor, other: Tensor, rounding_mode: str | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `div.Tensor_mode`."""
    if rounding_mode not in DIVISIONS:
        shapes.divide_mode(self, other, rounding_mode)  # raises the error
    return divide(DIVISIONS[rounding_mode], self, other, out)


register("div.Tensor", divide_true)
register("floor_divide", divide_floor)
register("div.Tensor_mode", divide_mode)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    yield from kernels_of((ADD, SUBTRACT, MULTIPLY, *DIVISIONS.values(), *BINARY.values(), *COMPARISON_ROWS.values()))
