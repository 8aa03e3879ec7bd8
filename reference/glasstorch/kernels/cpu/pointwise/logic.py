"""Which loops compute predicates, logical operations and bit shifts on the CPU?

Mirrors: aten/src/ATen/native/cpu/BinaryOpsKernel.cpp (logical_and_kernel, lshift_kernel ...),
    aten/src/ATen/native/cpu/UnaryOpsKernel.cpp (logical_not_kernel, signbit_kernel)
Differs: NumPy's ufuncs are the loops; shifts by too many bits give 0 or the sign, as in PyTorch.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, bfloat16, bool_, dtype
from glasstorch.kernels.cpu.pointwise.loops import (
    BINARY,
    Row,
    register,
    register_row,
    register_with_number,
)
from glasstorch.kernels.iterator import Loop, allocate_output
from glasstorch.kernels.number_operands import number_first
from glasstorch.kernels.pointwise.dtypes import ALL, DIRECT, EVERY, INTEGRAL_OR_BOOL
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function

# Predicates of one number ---------------------------------------------------------------------------------------

LOGICAL = ALL | COMPLEX_DTYPES
SIGNED = EVERY - FLOAT8

PREDICATES: dict[str, tuple[Loop, frozenset[dtype]]] = {  # integers may be negative, but not infinite
    "logical_not": (lambda out, x: np.logical_not(x, out=out), LOGICAL),
    "signbit": (lambda out, x: np.signbit(x, out=out) if x.dtype.kind == "f" else np.less(x, 0, out=out), SIGNED),
    "isposinf": (lambda out, x: np.equal(x, np.inf, out=out) if x.dtype.kind == "f" else out.fill(False), SIGNED),
    "isneginf": (lambda out, x: np.equal(x, -np.inf, out=out) if x.dtype.kind == "f" else out.fill(False), SIGNED),
}


def register_predicate(name: str, loop: Loop, accepts: frozenset[dtype]) -> None:
    """Register a predicate, with a bool for each element."""
    shape, row = shape_function(name), Row(loop, frozenset(), accepts, f"{name}_cpu")

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        row.check(self.dtype)
        output = allocate_output(shape(self)) if out is None else out
        x, written = self.array(), output.array()
        x = x.astype(np.float32) if self.dtype is bfloat16 else x
        quietly(loop, written if written.ndim else written[None], x)
        return output

    register(name, kernel)


for name, (loop, accepts) in PREDICATES.items():
    register_predicate(name, loop, accepts)

# Two operands ---------------------------------------------------------------------------------------------------

for name, ufunc in {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}.items():
    register_row(BINARY, name, Row(ufunc, DIRECT, LOGICAL, f"{name}_cpu", produces=bool_))

INTEGRAL = INTEGRAL_OR_BOOL - {bool_}
SHIFTS = {
    "bitwise_left_shift": Row(np.left_shift, INTEGRAL, INTEGRAL, "lshift_cpu"),
    "bitwise_right_shift": Row(np.right_shift, INTEGRAL, INTEGRAL, "rshift_cpu"),
}

for name, row in SHIFTS.items():
    register_row(BINARY, f"{name}.Tensor", row)
    register_with_number(f"{name}.Tensor_Scalar", f"{name}.Tensor")
    register_with_number(f"{name}.Scalar_Tensor", f"{name}.Tensor", number_first)
