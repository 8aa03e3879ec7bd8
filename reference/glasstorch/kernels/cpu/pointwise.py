"""How does a loop become the kernel of a pointwise operator on the CPU?

The loops and the tables of operators are in `pointwise_unary`, `pointwise_binary`, `pointwise_power`,
`pointwise_ternary` and `pointwise_select`.

Mirrors: aten/src/ATen/native/cpu/Loops.h, aten/src/ATen/Dispatch.h (AT_DISPATCH_*), aten/src/ATen/native/BinaryOps.cpp
Differs: a row of a table says what PyTorch's macros write out for each dtype.

# Note [The short path]
Most calls are on row-major tensors of one dtype and shape, and NumPy needs nothing but their arrays. Each kernel first
asks for that in a few comparisons; everything else (broadcasting, other dtypes, half precision, other layouts, out=)
goes through the shape function and `iterator.pointwise`, which gives the same answer for every input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import LARGE, empty_array
from glasstorch.core.dtype import DTYPES, HALF_PRECISION, Number, bool_, dtype, float32, float64
from glasstorch.core.errors import DtypeNotImplementedError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.kernels.iterator import Loop, allocate_output, in_blocks, op_math, pointwise
from glasstorch.kernels.quiet import idle, new_run, quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")
Kernel = Callable[..., Tensor]
Quick = Callable[..., bool]  # does the in-place work and returns True, or does nothing and returns False

ALL: Final = frozenset(DTYPES)
NOT_BOOL: Final = ALL - {bool_}
FLOATING: Final = frozenset(d for d in DTYPES if d.is_floating_point)
INTEGRAL_OR_BOOL: Final = ALL - FLOATING
DIRECT: Final = ALL - HALF_PRECISION
DIRECT_NOT_BOOL: Final = DIRECT - {bool_}
DIRECT_FLOATS: Final = frozenset((float32, float64))

ONE: Final = 1  # the default of alpha, compared by identity: True and 1.0 go the long way, which checks them


@dataclass(frozen=True, slots=True)
class Row:
    """A loop, and for which dtypes it is used how.

    `direct` are the dtypes whose arrays the loop takes as they are. `accepts` are those that PyTorch's kernel has;
    `label` is its name when it refuses others. `common` gives the dtype to compute in. `produces` is the dtype of what
    the loop writes, where that is not what it reads. `exact_number`: see `iterator.operand`.
    """

    loop: Loop
    direct: frozenset[dtype]
    accepts: frozenset[dtype] = ALL
    label: str = ""
    common: Callable[..., dtype] = result_type
    produces: dtype | None = None
    exact_number: bool = False

    def check(self, common: dtype) -> None:
        """Refuse a dtype that the operator accepts and the kernel does not have."""
        if common not in self.accepts:
            raise DtypeNotImplementedError(f"\"{self.label}\" not implemented for '{common.scalar_name}'")


# The short path -------------------------------------------------------------------------------------------------


def is_plain(direct: frozenset[dtype], self: Tensor, *others: Tensor) -> bool:  # hot path: benchmarks/eager.py
    """Whether tensors are row-major, of one shape, and of one dtype among `direct`."""
    dtype, shape = self.dtype, self._shape
    if self._strides is not None or dtype not in direct:
        return False
    for other in others:
        if other.dtype is not dtype or other._strides is not None or other._shape != shape:
            return False
    return True


def plain_operand(  # hot path: benchmarks/eager.py
    direct: frozenset[dtype], self: Tensor, other: Tensor
) -> Array | None:
    """The other operand's array, if a loop gives the right answer from it and from `self` as they are; else None.

    So it is where both are row-major and of one dtype, and the other's shape is that of `self` or its last dimensions;
    or where the other is a number and `self` a float tensor.
    """
    dtype = self.dtype
    if self._strides is None and dtype in direct:
        number = other._number
        if number is not None:
            if type(number) is bool or not -1e38 < number < 1e38:  # what is refused, or overflows with a warning
                return None
            return np.array(number, dtype.numpy) if dtype.is_floating_point and self._number is None else None
        if other.dtype is dtype and other._strides is None:
            shape, other_shape = self._shape, other._shape
            if shape == other_shape or shape[len(shape) - len(other_shape) :] == other_shape:
                return other.array()
    return None


def shares_storage(self: Tensor, *others: Tensor) -> bool:
    """Whether others look at the storage of a tensor that is to be written to. The tensor itself may."""
    storage = self._storage
    return storage is not None and any(other._storage is storage and other is not self for other in others)


def run_fresh(loop: Loop, result: dtype, x: Array, *others: Array) -> Tensor:
    """Run a loop on arrays as they are, into a fresh tensor of the first one's shape."""
    array = empty_array(x.shape, result.numpy, x.size * result.itemsize)
    if isinstance(loop, np.ufunc):
        quietly(loop, x, *others, out=array)
    else:
        quietly(in_blocks, loop, array, (x, *others), (array.dtype, *(x.dtype,) * (1 + len(others))))
    return wrap(array, result)


def run_inplace(loop: Loop, x: Array, *others: Array) -> None:
    """Run a loop on arrays as they are, into the first."""
    if isinstance(loop, np.ufunc):
        quietly(loop, x, *others, out=x)
    else:
        quietly(in_blocks, loop, x, (x, *others), (x.dtype,) * (2 + len(others)))


# From a row to a kernel -----------------------------------------------------------------------------------------


def unary_kernel(shape: Callable[..., Result], row: Row) -> tuple[Kernel, Quick]:
    """The kernel of an operator of one tensor, and its short path in place."""
    loop, direct, is_ufunc = row.loop, row.direct, isinstance(row.loop, np.ufunc)

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:  # hot path: benchmarks/eager.py
        if out is None and self._strides is None and (dtype := self.dtype) in direct:
            x = self.array()
            if not (is_ufunc and self._shape and x.nbytes < LARGE):
                return run_fresh(loop, dtype, x)
            try:  # `quietly`, written out
                run = idle.pop()
            except IndexError:
                run = new_run()
            array = run(loop, x)
            idle.append(run)
            return wrap(array, dtype)
        output = allocate_output(shape(self)) if out is None else out
        common = row.common(self)
        row.check(common)
        return pointwise(loop, common, (self,), output)

    def quick(self: Tensor) -> bool:
        if self._strides is not None or self.dtype not in direct:
            return False
        run_inplace(loop, self.array())
        return True

    return kernel, quick


def binary_kernel(shape: Callable[..., Result], row: Row, takes_alpha: bool = False) -> tuple[Kernel, Quick]:
    """The kernel of an operator of two tensors, and its short path in place."""
    loop, direct, produces, is_ufunc = row.loop, row.direct, row.produces, isinstance(row.loop, np.ufunc)

    def kernel(  # hot path: benchmarks/eager.py
        keys: int, self: Tensor, other: Tensor, alpha: Number = ONE, out: Tensor | None = None
    ) -> Tensor:
        if out is None and alpha is ONE and (y := plain_operand(direct, self, other)) is not None:
            x, result = self.array(), produces or self.dtype
            if not (is_ufunc and self._shape and x.nbytes < LARGE):
                return run_fresh(loop, result, x, y)
            try:  # `quietly`, written out
                run = idle.pop()
            except IndexError:
                run = new_run()
            array = run(loop, x, y)
            idle.append(run)
            return wrap(array, result)
        output = out
        if output is None:
            output = allocate_output(shape(self, other, alpha) if takes_alpha else shape(self, other))
        common = row.common(self, other)
        row.check(common)
        chosen = loop if alpha == 1 else scaled(loop, number_as(alpha, common), op_math(common))
        return pointwise(chosen, common, (self, other), output, produces, row.exact_number)

    def quick(self: Tensor, other: Tensor, alpha: Number = ONE) -> bool:  # hot path: benchmarks/eager.py
        if shares_storage(self, other) or (y := plain_operand(direct, self, other)) is None:
            return False
        if alpha is ONE:
            run_inplace(loop, self.array(), y)
        elif type(alpha) is float and self.dtype.is_floating_point:
            run_inplace(scaled(loop, number_as(alpha, self.dtype), self.dtype), self.array(), y)
        else:
            return False
        return True

    return kernel, quick


def with_number(loop: Loop, value: Number, compute: dtype) -> Loop:
    """A loop whose last input is a number: `loop(out, *inputs, value)`."""
    fixed = np.array(value, compute.numpy)
    return lambda out, *inputs: loop(out, *inputs, fixed)


def scaled(ufunc: Loop, alpha: Number, compute: dtype) -> Loop:
    """The loop of `x + alpha * y` or `x - alpha * y`."""
    return with_number(lambda out, x, y, factor: ufunc(x, np.multiply(y, factor), out=out), alpha, compute)


def register(name: str, kernel: Kernel, quick: Quick | None = None) -> Kernel:
    """Register a kernel for an operator and its forms, under the operator's name."""
    kernel.__name__ = kernel.__qualname__ = name.partition(".")[0]
    structured(CPU, name, kernel, quick=quick, where=caller(1))
    return kernel
