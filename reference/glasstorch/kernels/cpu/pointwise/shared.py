"""Which kernels of the CPU are written from the table of formulas?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp, UnaryOpsKernel.cpp, PointwiseOpsKernel.cpp, LerpKernel.cpp
Differs: PyTorch's vectorized loops use fused multiply-add; here each step rounds.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, dtype
from glasstorch.core.errors import DtypeError, not_implemented_for
from glasstorch.kernels.cpu.pointwise.loops import (
    BINARY,
    KERNELS,
    NUMBERED,
    UNARY,
    Kernel,
    Row,
    kernel_of,
    register,
    register_row,
    register_with_number,
)
from glasstorch.kernels.number_operands import number_first
from glasstorch.kernels.pointwise.formulas import FORMULAS, TRUNC_DIVIDE
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type


def type_of_product(self: Tensor, other: Tensor) -> dtype:
    """The common dtype; 8-bit floats multiply tensors of the same size, but not single numbers."""
    common = result_type(self, other)
    if common in FLOAT8 and prod(other._shape) == 1:
        raise not_implemented_for("mul_cpu_reduced_float", common)
    return common


for name, formula in FORMULAS.items():
    if not formula.own_kernel:
        row = Row.of(formula, type_of_product if name == "mul.Tensor" else None)
        table = NUMBERED if formula.numbers and row.scaled is None else (UNARY, BINARY, {})[formula.tensors - 1]
        register_row(table, name, row)
    base = name.partition(".")[0]
    if formula.number_form:
        register_with_number(f"{base}.Scalar", name)
    if formula.number_first or (formula.number_form and formula.produces is None):
        register_with_number(f"{base}.Scalar_Tensor", name, number_first)

# Division with a rounding mode: one of three kernels ------------------------------------------------------------

DIVISIONS: dict[str | None, Kernel] = {
    None: KERNELS["div.Tensor"],
    "floor": KERNELS["floor_divide"],
    "trunc": kernel_of(shapes.binary, Row.of(TRUNC_DIVIDE)),
}


def divide_mode(keys: int, self: Tensor, other: Tensor, rounding_mode: str | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `div.Tensor_mode`."""
    if rounding_mode not in DIVISIONS:
        shapes.divide_mode(self, other, rounding_mode)  # raises the error
    return DIVISIONS[rounding_mode](keys, self, other, out=out)


register("div.Tensor_mode", divide_mode)

# The absolute value of a complex number is real -----------------------------------------------------------------


def refusing_complex(checked: Kernel) -> Kernel:
    """The kernel of `abs_`."""

    def absolute_(keys: int, self: Tensor) -> Tensor:
        if self.dtype.is_complex:
            raise DtypeError("In-place abs is not supported for complex tensors.")
        return checked(keys, self)

    return absolute_


ABS = Row.of(FORMULAS["abs"])
register_row(UNARY, "abs", replace(ABS, accepts=ABS.accepts | COMPLEX_DTYPES, real_of_complex=True), refusing_complex)
