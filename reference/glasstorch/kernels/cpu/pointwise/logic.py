"""Which loops compute logical operations and bit shifts on the CPU?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (logical_and_kernel, lshift_kernel ...),
    aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (logical_not_kernel)
Differs: NumPy's ufuncs are the loops; shifts by too many bits give 0 or the sign, as in PyTorch.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import DTYPES, bool_
from glasstorch.kernels.cpu.pointwise.loops import (
    ALL,
    BINARY,
    DIRECT,
    INTEGRAL_OR_BOOL,
    Row,
    register,
    register_row,
    register_with_number,
)
from glasstorch.kernels.iterator import allocate_output, pointwise
from glasstorch.kernels.number_operands import number_first
from glasstorch.operators.shapes.pointwise import broadcast as shapes

LOGICAL_DTYPES = ALL | frozenset(d for d in DTYPES if d.is_complex)

LOGICAL = {
    name: Row(ufunc, DIRECT, LOGICAL_DTYPES, f"{name}_cpu", produces=bool_)
    for name, ufunc in {
        "logical_and": np.logical_and,
        "logical_or": np.logical_or,
        "logical_xor": np.logical_xor,
    }.items()
}

for name, row in LOGICAL.items():
    register_row(BINARY, name, row)

NOT = Row(np.logical_not, DIRECT, LOGICAL_DTYPES, "logical_not_cpu", produces=bool_)


def logical_not(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `logical_not`."""
    output = allocate_output(shapes.truth(self)) if out is None else out
    NOT.check(self.dtype)
    return pointwise(np.logical_not, self.dtype, (self,), output, bool_)


register("logical_not", logical_not)

INTEGRAL = INTEGRAL_OR_BOOL - {bool_}
SHIFTS = {
    "bitwise_left_shift": Row(np.left_shift, INTEGRAL, INTEGRAL, "lshift_cpu"),
    "bitwise_right_shift": Row(np.right_shift, INTEGRAL, INTEGRAL, "rshift_cpu"),
}


def register_shift(name: str, row: Row) -> None:
    """Register a shift of tensors, and its overloads with a number on either side."""
    kernel = register_row(BINARY, f"{name}.Tensor", row, shapes.bitwise)
    register_with_number(f"{name}.Tensor_Scalar", f"{name}.Tensor", kernel)
    register(f"{name}.Scalar_Tensor", number_first(kernel))


for name, row in SHIFTS.items():
    register_shift(name, row)
