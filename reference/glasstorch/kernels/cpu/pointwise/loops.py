"""How does a loop become the kernel of a pointwise operator on the CPU?

The loops and the tables of operators are in the other files of this folder.

Mirrors: aten/src/ATen/native/cpu/Loops.h, aten/src/ATen/Dispatch.h (AT_DISPATCH_*), aten/src/ATen/native/BinaryOps.cpp
Differs: a row of a table states what PyTorch's macros expand for each dtype.

A kernel asks its shape function for the sizes, and gives the loop to `iterator.pointwise`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import (
    BAREBONES_UNSIGNED,
    COMPLEX_DTYPES,
    DTYPES,
    HALF_PRECISION,
    STORED_ONLY,
    Number,
    bool_,
    dtype,
    float32,
    float64,
)
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.kernels.iterator import Loop, allocate_output, op_math, pointwise
from glasstorch.kernels.number_operands import with_wrapped_number
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")
Kernel = Callable[..., Tensor]

# The dtype sets of PyTorch's macros. ALL is AT_ALL_TYPES with bool and half precision; other names say what they add.
ALL: Final = frozenset(DTYPES) - COMPLEX_DTYPES - STORED_ONLY
NOT_BOOL: Final = ALL - {bool_}
FLOATING: Final = frozenset(d for d in ALL if d.is_floating_point)
INTEGRAL_OR_BOOL: Final = ALL - FLOATING
DIRECT: Final = ALL - HALF_PRECISION
DIRECT_NOT_BOOL: Final = DIRECT - {bool_}
DIRECT_FLOATS: Final = frozenset((float32, float64))
EVERY: Final = frozenset(DTYPES)
WITH_COMPLEX: Final = ALL | COMPLEX_DTYPES
FLOATING_OR_COMPLEX: Final = FLOATING | COMPLEX_DTYPES
WHOLE_NUMBERS: Final = INTEGRAL_OR_BOOL | BAREBONES_UNSIGNED


@dataclass(frozen=True, slots=True)
class Row:
    """A loop, and how it is used for each dtype.

    `direct` are the dtypes whose arrays the loop takes without a cast. `accepts` are those that PyTorch's kernel
    supports; `label` is the kernel's name in the error for others. `common` gives the compute dtype. `produces` is the
    dtype that the loop writes, where it differs from the one it reads. `exact_number`: see `iterator.operand`.
    `on_complex` is the loop for complex numbers, where they need another. `scaled` is that of an operator with an alpha
    other than 1: `scaled(out, x, y, alpha)`.
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

    def check(self, common: dtype) -> None:
        """Refuse a dtype that the operator accepts but the kernel does not support."""
        if common not in self.accepts:
            raise not_implemented_for(self.label, common)

    def loop_for(self, common: dtype) -> Loop:
        """The loop that computes in a dtype, for arrays of any layout."""
        if self.loop is np.negative:
            return negative
        return self.on_complex if self.on_complex is not None and common.is_complex else self.loop


def negative(out: Array, x: Array) -> None:
    """`-x`, avoiding a bug of NumPy's own loop on non-contiguous arrays.

    np.negative of NumPy 2.4 reads the wrong elements where both arrays are non-contiguous and the input has strides of
    16 bytes (4-byte elements) or 64 bytes (8-byte elements): a = np.arange(16.0); np.negative(a[::8], out=a[::8])
    leaves -1 for -8.
    """
    if x.flags.forc and out.flags.forc:
        np.negative(x, out=out)
    else:
        out[...] = np.negative(x.copy())


# From a row to a kernel -----------------------------------------------------------------------------------------

# operator -> its row: of one tensor, of two, and of several with a number
UNARY: dict[str, Row] = {}
BINARY: dict[str, Row] = {}
NUMBERED: dict[str, Row] = {}
WITH_NUMBER: dict[str, str] = {}  # overload that takes a number -> the overload for tensors whose kernel it calls


def kernel_of(shape: Callable[..., Result], row: Row) -> Kernel:
    """The kernel of an operator of tensors, which may be followed by a number for the loop."""

    def kernel(keys: int, *arguments: Any, out: Tensor | None = None) -> Tensor:
        output = allocate_output(shape(*arguments)) if out is None else out
        tensors = [argument for argument in arguments if isinstance(argument, Tensor)]
        common = row.common(*tensors)
        row.check(common)
        loop = row.loop_for(common)
        for number in arguments[len(tensors) :]:
            if row.scaled is None or number != 1:
                loop = with_number(row.scaled or loop, number_as(number, common), op_math(common))
        return pointwise(loop, common, tensors, output, row.produces, row.exact_number)

    return kernel


def with_number(loop: Loop, value: Number, compute: dtype) -> Loop:
    """A loop whose last input is a number: `loop(out, *inputs, value)`."""
    fixed = np.array(value, compute.numpy)
    return lambda out, *inputs: loop(out, *inputs, fixed)


def with_real_result(real: Kernel, shape: Callable[..., Result], loop: Loop) -> Kernel:
    """A kernel that runs a loop from complex to real numbers, and leaves other dtypes to the kernel `real`."""

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if not self.dtype.is_complex:
            return real(keys, self, out=out)
        output = allocate_output(shape(self)) if out is None else out
        return pointwise(loop, self.dtype, (self,), output, self.dtype.to_real())

    return kernel


# Registering -----------------------------------------------------------------------------------------------------


def register(name: str, kernel: Kernel, instead: Callable[[Kernel], Kernel] | None = None, depth: int = 1) -> Kernel:
    """Register a kernel for an operator and its forms, under the operator's name."""
    kernel.__name__ = kernel.__qualname__ = name.partition(".")[0]
    structured(CPU, name, kernel, caller(depth), instead)
    return kernel


def register_row(rows: dict[str, Row], name: str, row: Row, shape: Callable[..., Result] | None = None) -> Kernel:
    """Register the kernel of a row, and keep the row in one of the tables UNARY, BINARY and NUMBERED."""
    rows[name] = row
    return register(name, kernel_of(shape or shape_function(name), row), depth=2)


def register_with_number(name: str, of: str, kernel: Kernel) -> None:
    """Register the overload that takes a number as the second operand, and calls the kernel of the one for tensors."""
    WITH_NUMBER[name] = of
    register(name, with_wrapped_number(kernel), depth=2)
