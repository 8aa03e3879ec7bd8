"""How does a loop become the kernel of a pointwise operator on the CPU?

A kernel asks the shape function for the sizes, and gives the loop to `iterator.pointwise`. The tables of loops are in
`kernels/pointwise` and in the other files of this folder.

Mirrors: aten/src/ATen/native/cpu/Loops.h, aten/src/ATen/Dispatch.h (AT_DISPATCH_*), aten/src/ATen/native/BinaryOps.cpp
Differs: a row of a table states what PyTorch's macros expand for each dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, HALF_PRECISION, Number, dtype
from glasstorch.core.errors import not_implemented_for
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.kernels.cpu.pointwise.steps import negative
from glasstorch.kernels.iterator import Loop, allocate_output, op_math, pointwise
from glasstorch.kernels.number_operands import with_wrapped_number
from glasstorch.kernels.pointwise.dtypes import ALL, FLOATING_OR_COMPLEX
from glasstorch.kernels.pointwise.formulas import Formula
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop, unscaled_ufunc
from glasstorch.kernels.structured import add_structured, shape_function
from glasstorch.operators.shapes.promotion import float_result_type, result_type
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")
Kernel = Callable[..., Tensor]


@dataclass(frozen=True, slots=True)
class Row:
    """A loop, and how it is used for each dtype.

    `direct` are the dtypes whose arrays the loop takes without a cast. `accepts` are those that PyTorch's kernel
    supports; `label` is the kernel's name in the error for others. `common` gives the compute dtype. `produces` is the
    dtype that the loop writes, where it differs from the one it reads. `exact_number`: see `iterator.operand`.
    `on_complex` is the loop for complex numbers, where they need another; `real_of_complex` says that it gives real
    ones. `scaled` is the loop of an operator with an alpha other than 1: `scaled(out, x, y, alpha)`. `numbers` is how
    many of these follow the tensors among the arguments.
    """

    loop: Loop
    direct: frozenset[dtype]
    accepts: frozenset[dtype] = ALL
    label: str = ""
    common: Callable[..., dtype] = result_type
    produces: dtype | None = None
    exact_number: bool = False
    on_complex: Loop | None = None
    scaled: Loop | None = None
    real_of_complex: bool = False
    numbers: int = 0

    def check(self, common: dtype) -> None:
        """Refuse a dtype that the operator accepts but the kernel does not support."""
        if common not in self.accepts:
            raise not_implemented_for(self.label, common)

    def loop_for(self, common: dtype) -> Loop:
        """The loop that computes in a dtype, for arrays of any layout."""
        if self.loop is np.negative:
            return negative
        return self.on_complex if self.on_complex is not None and common.is_complex else self.loop

    @classmethod
    def of(cls, formula: Formula, common: Callable[..., dtype] | None = None) -> Row:
        """The row for a line of the table of formulas, or with another rule for the compute dtype.

        An operator that is one ufunc when its number is 1, such as `a + p * b`, has a loop for that, and another one.
        """
        loop, scaled = numpy_loop(formula.numpy or formula.expression), None
        if formula.numbers and (unscaled := unscaled_ufunc(formula.expression)) is not None:
            loop, scaled = unscaled, loop
        on_complex = numpy_loop(formula.on_complex) if formula.on_complex else None
        direct = formula.accepts - HALF_PRECISION - FLOAT8 - (COMPLEX_DTYPES if on_complex else frozenset())
        if formula.common is float_result_type:
            direct &= FLOATING_OR_COMPLEX
        facts = formula.accepts, formula.label, common or formula.common, formula.produces, formula.exact_number
        return cls(loop, direct, *facts, on_complex, scaled, numbers=formula.numbers)


# From a row to a kernel -----------------------------------------------------------------------------------------

# operator -> its kernel; and its row: of one tensor, of two, and of several with a number
KERNELS: dict[str, Kernel] = {}
UNARY: dict[str, Row] = {}
BINARY: dict[str, Row] = {}
NUMBERED: dict[str, Row] = {}
# overload that takes a number -> the overload for tensors, and the function that makes the kernel from that one's
WITH_NUMBER: dict[str, tuple[str, Callable[[Kernel], Kernel]]] = {}


def kernel_of(shape: Callable[..., Result], row: Row) -> Kernel:
    """The kernel of an operator of tensors, and of as many numbers as the row says."""

    def kernel(keys: int, *arguments: Any, out: Tensor | None = None) -> Tensor:
        return compute(row, arguments, allocate_output(shape(*arguments)) if out is None else out)

    return kernel


def compute(row: Row, arguments: Sequence[Any], output: Tensor) -> Tensor:
    """Write what a row computes of tensors, and of the numbers after them, to `output`, and return that."""
    count = len(arguments) - row.numbers
    tensors, numbers = arguments[:count], arguments[count:]
    common = row.common(*tensors)
    row.check(common)
    loop = row.loop_for(common)
    if numbers and (row.scaled is None or numbers != (1,)):
        loop = with_numbers(loop, numbers, common) if row.scaled is None else scaled_by(row.scaled, numbers[0], common)
    produces = common.to_real() if row.real_of_complex and common.is_complex else row.produces
    return pointwise(loop, common, tensors, output, produces, row.exact_number)


def with_numbers(loop: Loop, numbers: Sequence[Number], common: dtype) -> Loop:
    """A loop whose last inputs are numbers, `loop(out, *inputs, *numbers)`; the dtype must be able to hold them."""
    fixed = [np.array(number_as(number, common), op_math(common).numpy) for number in numbers]
    if isinstance(loop, np.ufunc):
        return lambda out, *inputs: loop(*inputs, *fixed, out=out)
    return lambda out, *inputs: loop(out, *inputs, *fixed)


def scaled_by(loop: Loop, alpha: Number, common: dtype) -> Loop:
    """A loop that scales its second input by alpha, which PyTorch rounds to a half precision (add_kernel)."""
    rounded = np.array(number_as(alpha, common), common.numpy).astype(op_math(common).numpy)
    return lambda out, *inputs: loop(out, *inputs, rounded)


# Registering -----------------------------------------------------------------------------------------------------


def register(name: str, kernel: Kernel, instead: Callable[[Kernel], Kernel] | None = None, depth: int = 1) -> None:
    """Register a kernel for an operator and its forms, under the operator's name."""
    kernel.__name__ = kernel.__qualname__ = name.partition(".")[0]
    KERNELS[name] = kernel
    add_structured(CPU, name, kernel, caller(depth), instead)


def register_row(rows: dict[str, Row], name: str, row: Row, instead: Callable[[Kernel], Kernel] | None = None) -> None:
    """Register the kernel of a row, and keep the row in one of the tables UNARY, BINARY and NUMBERED."""
    rows[name] = row
    register(name, kernel_of(shape_function(name), row), instead, depth=2)


def register_with_number(name: str, of: str, made: Callable[[Kernel], Kernel] = with_wrapped_number) -> None:
    """Register the overload that takes a number as one operand, and calls the kernel of the one for tensors."""
    WITH_NUMBER[name] = of, made
    register(name, made(KERNELS[of]), depth=2)
