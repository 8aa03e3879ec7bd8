"""How does a loop become the kernel of a pointwise operator on the CPU?

The loops and the tables of operators are in the other files of this folder.

Mirrors: aten/src/ATen/native/cpu/Loops.h, aten/src/ATen/Dispatch.h (AT_DISPATCH_*), aten/src/ATen/native/BinaryOps.cpp
Differs: a row of a table states what PyTorch's macros expand for each dtype.

# Note [The short path]
Most calls take row-major tensors of one dtype, or one such tensor and a number, and NumPy needs only their arrays. Each
kernel first checks for that case in a few comparisons. Everything else (other dtypes, half precision, other layouts,
out=) goes through the shape function and `iterator.pointwise`, the plain twin: it gives the same results, and the tests
hold the two equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core import inference
from glasstorch.core.allocator import LARGE, empty_array
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
from glasstorch.core.geometry import Shape, broadcast_shapes
from glasstorch.core.keys import CPU_KEYS
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.kernels.iterator import BLOCK, Loop, allocate_output, in_blocks, op_math, pointwise
from glasstorch.kernels.quiet import idle, new_run, quietly
from glasstorch.kernels.structured import structured
from glasstorch.kernels.threads import FOR_TWO, parts_of, share
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")
Kernel = Callable[..., Tensor]
Shortcut = Callable[[Kernel], Kernel]  # from the checked in-place kernel to one with a short path

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

ONE: Final = 1  # the default of alpha, compared by identity: True and 1.0 take the general path, which checks them


@dataclass(frozen=True, slots=True)
class Row:
    """A loop, and how it is used for each dtype.

    `direct` are the dtypes whose arrays the loop takes without a cast. `accepts` are those that PyTorch's kernel
    supports; `label` is the kernel's name in the error for others. `common` gives the compute dtype. `produces` is the
    dtype that the loop writes, where it differs from the one it reads. `exact_number`: see `iterator.operand`.
    `on_complex` is the loop for complex numbers, where they need another.
    """

    loop: Loop
    direct: frozenset[dtype]
    accepts: frozenset[dtype] = ALL
    label: str = ""
    common: Callable[..., dtype] = result_type
    produces: dtype | None = None
    exact_number: bool = False
    on_complex: Loop | None = None

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
    """The other operand's array, if it and that of `self` need no conversion for a loop; else None.

    They need none where both are row-major and of one dtype, or where the other is a number that certainly fits the
    dtype of `self`. The caller checks their shapes.
    """
    dtype = self.dtype
    if self._strides is None and dtype in direct:
        number = other._number
        if number is not None:
            if type(number) is float:
                fits = dtype.is_floating_point and -1e38 < number < 1e38  # other numbers may overflow, with a warning
            else:
                fits = type(number) is int and dtype.is_signed and -(2**31) <= number < 2**31 and dtype.itemsize > 2
            return np.array(number, dtype.numpy) if fits and self._number is None else None
        if other.dtype is dtype and other._strides is None:
            return other.array()
    return None


def shares_storage(self: Tensor, *others: Tensor) -> bool:
    """Whether other tensors share the storage of the tensor to write to. The tensor itself may be among them."""
    storage = self._storage
    return storage is not None and any(other._storage is storage and other is not self for other in others)


def run_loop(loop: Loop, out: Array, inputs: Sequence[Array], numbers: Sequence[Array] = ()) -> None:
    """Run `loop(out, *inputs, *numbers)` on arrays that need no casting; see Note [When threads pay]."""
    if out.size >= FOR_TWO and (parts := parts_of(out, inputs)) > 1:
        share(lambda out, *inputs: run_part(loop, out, inputs, numbers), out, inputs, parts)
    else:
        run_part(loop, out, inputs, numbers)


def run_part(loop: Loop, out: Array, inputs: Sequence[Array], numbers: Sequence[Array]) -> None:
    """`run_loop` in one thread."""
    if isinstance(loop, np.ufunc):
        quietly(loop, *inputs, out=out)
    elif out.size <= BLOCK and out.ndim:
        quietly(loop, out, *inputs, *numbers)
    else:
        bound = (lambda out, *inputs: loop(out, *inputs, *numbers)) if numbers else loop
        quietly(in_blocks.run, bound, out, inputs, (out.dtype, *(array.dtype for array in inputs)))


def run_fresh(
    loop: Loop, shape: Shape, result: dtype, inputs: Sequence[Array], numbers: Sequence[Array] = ()
) -> Tensor:
    """As `run_loop`, into a fresh row-major tensor."""
    out = empty_array(shape, result.numpy, prod(shape) * result.itemsize)
    run_loop(loop, out, inputs, numbers)
    return wrap(out, result)


# The shortest path ----------------------------------------------------------------------------------------------
# One ufunc on row-major tensors of one shape and dtype that fit into the cache. `array`, `quietly` and `wrap` are
# inlined: three calls cost as much as adding eight numbers. `general` is the kernel for everything else. The fields
# are those that `tensor_of` fills in.

new = object.__new__


def shortest_unary(loop: Loop, direct: frozenset[dtype], general: Kernel) -> Kernel:
    """The kernel of one ufunc on one tensor."""

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:  # hot path: benchmarks/eager.py
        if out is None and self._strides is None:
            dtype, shape, x = self.dtype, self._shape, self._array
            if x is None or self._storage is not None:
                x = self.array()
            if shape and x.nbytes < LARGE and dtype in direct:
                try:
                    run = idle.pop()
                except IndexError:
                    run = new_run()
                array = run(loop, x)
                idle.append(run)
                t = new(Tensor)
                t.dtype, t._shape, t._array = dtype, shape, array
                t.key_set = inference.keys_of_new(CPU_KEYS) if inference.entered else CPU_KEYS
                t._storage = t._strides = t._version_counter = t._autograd_meta = t._number = None
                t._offset = t._generation = 0
                return t
        return general(keys, self, out)

    return kernel


def shortest_binary(loop: Loop, direct: frozenset[dtype], produces: dtype | None, general: Kernel) -> Kernel:
    """The kernel of one ufunc on two tensors."""

    def kernel(  # hot path: benchmarks/eager.py
        keys: int, self: Tensor, other: Tensor, alpha: Number = ONE, out: Tensor | None = None
    ) -> Tensor:
        if out is None and alpha is ONE and self._strides is None and other._strides is None:
            dtype, shape = self.dtype, self._shape
            if other.dtype is dtype and other._shape == shape and shape and dtype in direct:
                x, y = self._array, other._array
                if x is None or self._storage is not None:
                    x = self.array()
                if y is None or other._storage is not None:
                    y = other.array()
                if x.nbytes < LARGE:
                    try:
                        run = idle.pop()
                    except IndexError:
                        run = new_run()
                    array = run(loop, x, y)
                    idle.append(run)
                    t = new(Tensor)
                    t.dtype, t._shape, t._array = produces or dtype, shape, array
                    t.key_set = inference.keys_of_new(CPU_KEYS) if inference.entered else CPU_KEYS
                    t._storage = t._strides = t._version_counter = t._autograd_meta = t._number = None
                    t._offset = t._generation = 0
                    return t
        return general(keys, self, other, alpha, out)

    return kernel


# From a row to a kernel -----------------------------------------------------------------------------------------


def unary_kernel(shape: Callable[..., Result], row: Row) -> tuple[Kernel, Shortcut]:
    """The kernel of an operator of one tensor, and its short path in place."""
    loop, direct = row.loop, row.direct

    def general(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if out is None and self._strides is None and (dtype := self.dtype) in direct:
            return run_fresh(loop, self._shape, dtype, (self.array(),))
        output = allocate_output(shape(self)) if out is None else out
        common = row.common(self)
        row.check(common)
        return pointwise(row.loop_for(common), common, (self,), output)

    def shortcut(checked: Kernel) -> Kernel:
        def inplace(keys: int, self: Tensor) -> Tensor:
            if self._strides is not None or self.dtype not in direct:
                return checked(keys, self)
            x = self.array()
            run_loop(loop, x, (x,))
            return self

        return inplace

    return shortest_unary(loop, direct, general) if isinstance(loop, np.ufunc) else general, shortcut


def binary_kernel(shape: Callable[..., Result], row: Row, takes_alpha: bool = False) -> tuple[Kernel, Shortcut]:
    """The kernel of an operator of two tensors, and its short path in place."""
    loop, direct, produces, is_ufunc = row.loop, row.direct, row.produces, isinstance(row.loop, np.ufunc)

    def general(  # hot path: benchmarks/eager.py
        keys: int, self: Tensor, other: Tensor, alpha: Number = ONE, out: Tensor | None = None
    ) -> Tensor:
        if (
            out is None
            and alpha is ONE
            and (other._shape == self._shape or 0 not in self._shape)
            and (y := plain_operand(direct, self, other)) is not None
        ):
            x, result, sizes, other_sizes = self.array(), produces or self.dtype, self._shape, other._shape
            if sizes != other_sizes and sizes[len(sizes) - len(other_sizes) :] != other_sizes:
                return run_fresh(loop, broadcast_shapes(sizes, other_sizes), result, (x, y))
            if not (is_ufunc and sizes and x.nbytes < LARGE):
                return run_fresh(loop, sizes, result, (x, y))
            return wrap(quietly(loop, x, y), result)
        output = out
        if output is None:
            output = allocate_output(shape(self, other, alpha) if takes_alpha else shape(self, other))
        common = row.common(self, other)
        row.check(common)
        chosen = (
            row.loop_for(common) if alpha == 1 else with_number(SCALED[loop], number_as(alpha, common), op_math(common))
        )
        return pointwise(chosen, common, (self, other), output, produces, row.exact_number)

    def shortcut(checked: Kernel) -> Kernel:
        def inplace(  # hot path: benchmarks/eager.py
            keys: int, self: Tensor, other: Tensor, alpha: Number = ONE
        ) -> Tensor:
            storage, sizes = self._storage, other._shape
            if (
                (storage is None or other._storage is not storage or other is self)
                and (not sizes or sizes == self._shape)
                and (y := plain_operand(direct, self, other)) is not None
            ):
                x = self.array()
                if alpha is ONE and is_ufunc:
                    try:  # `quietly`, inlined
                        run = idle.pop()
                    except IndexError:
                        run = new_run()
                    run(loop, x, y, out=x)
                    idle.append(run)
                    return self
                if alpha is ONE:
                    run_loop(loop, x, (x, y))
                    return self
                if type(alpha) is float and self.dtype.is_floating_point:
                    run_loop(SCALED[loop], x, (x, y), (np.array(number_as(alpha, self.dtype), x.dtype),))
                    return self
            return checked(keys, self, other, alpha) if takes_alpha else checked(keys, self, other)

        return inplace

    return shortest_binary(loop, direct, produces, general) if is_ufunc else general, shortcut


def ternary_kernel(shape: Callable[..., Result], row: Row) -> tuple[Kernel, Shortcut]:
    """The kernel of an operator of several tensors and a number, and its short path in place."""
    loop, direct = row.loop, row.direct

    def kernel(keys: int, *arguments: Any, out: Tensor | None = None) -> Tensor:
        *tensors, value = arguments
        if out is None and is_plain(direct, *tensors):
            like = tensors[0]
            number = np.array(number_as(value, like.dtype), like.dtype.numpy)
            return run_fresh(loop, like._shape, like.dtype, [tensor.array() for tensor in tensors], (number,))
        output = allocate_output(shape(*arguments)) if out is None else out
        common = row.common(*tensors)
        row.check(common)
        return pointwise(with_number(loop, number_as(value, common), op_math(common)), common, tensors, output)

    def shortcut(checked: Kernel) -> Kernel:
        def inplace(keys: int, *arguments: Any) -> Tensor:
            *tensors, value = arguments
            if not is_plain(direct, *tensors) or shares_storage(*tensors):
                return checked(keys, *arguments)
            self: Tensor = tensors[0]
            arrays = [tensor.array() for tensor in tensors]
            run_loop(loop, arrays[0], arrays, (np.array(number_as(value, self.dtype), arrays[0].dtype),))
            return self

        return inplace

    return kernel, shortcut


def with_number(loop: Loop, value: Number, compute: dtype) -> Loop:
    """A loop whose last input is a number: `loop(out, *inputs, value)`."""
    fixed = np.array(value, compute.numpy)
    return lambda out, *inputs: loop(out, *inputs, fixed)


def add_scaled(out: Array, x: Array, y: Array, alpha: Array) -> None:
    """`x + alpha * y`."""
    np.add(x, np.multiply(y, alpha), out=out)


def subtract_scaled(out: Array, x: Array, y: Array, alpha: Array) -> None:
    """`x - alpha * y`."""
    np.subtract(x, np.multiply(y, alpha), out=out)


SCALED: Final[dict[Loop, Loop]] = {np.add: add_scaled, np.subtract: subtract_scaled}  # the loops that have an alpha


def with_real_result(real: Kernel, shape: Callable[..., Result], loop: Loop) -> Kernel:
    """A kernel that runs a loop from complex to real numbers, and leaves other dtypes to the kernel `real`."""

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if not self.dtype.is_complex:
            return real(keys, self, out=out)
        output = allocate_output(shape(self)) if out is None else out
        return pointwise(loop, self.dtype, (self,), output, self.dtype.to_real())

    return kernel


def register(name: str, kernel: Kernel, shortcut: Shortcut | None = None) -> Kernel:
    """Register a kernel for an operator and its forms, under the operator's name."""
    kernel.__name__ = kernel.__qualname__ = name.partition(".")[0]
    structured(CPU, name, kernel, caller(1), shortcut)
    return kernel
