"""How do pointwise operators reach NumPy in few steps, and large ones in several threads?

Mirrors: the contiguous cases of aten/src/ATen/native/cpu/Loops.h (VectorizedLoop2d), aten/src/ATen/TensorIterator.cpp
    (fast_set_up)
Differs: PyTorch's fast set-up is a part of every call; here it is a function in front of the plain kernel.

# Note [The short path]
Most calls take row-major tensors of one dtype, or one such tensor and a number, and NumPy needs only their arrays. Each
kernel first checks for that case in a few comparisons. Everything else (other dtypes, half precision, other layouts,
out=) goes through the plain kernel: the shape function and `iterator.pointwise`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core import inference
from glasstorch.core.allocator import LARGE, empty_array
from glasstorch.core.dtype import COMPLEX_DTYPES, Number, bool_, dtype
from glasstorch.core.geometry import Shape, broadcast_shapes
from glasstorch.core.keys import CPU_KEYS, DispatchKey
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import install
from glasstorch.dispatch.operator import registry
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.pointwise.threads import parts_of, share
from glasstorch.kernels.cpu.pointwise import loops
from glasstorch.kernels.cpu.pointwise.loops import Kernel, Row
from glasstorch.kernels.iterator import Loop, in_blocks
from glasstorch.kernels.quiet import idle, new_run, quietly
from glasstorch.kernels.structured import FORMS
from glasstorch.operators.shapes.scalars import number_as

# What a short path asks ---------------------------------------------------------------------------------------------


def is_row_major(direct: frozenset[dtype], self: Tensor, *others: Tensor) -> bool:  # hot path: benchmarks/eager.py
    """Whether tensors are row-major, of one shape, and of one dtype among `direct`."""
    dtype, shape = self.dtype, self._shape
    if self._strides is not None or dtype not in direct:
        return False
    for other in others:
        if other.dtype is not dtype or other._strides is not None or other._shape != shape:
            return False
    return True


def other_operand(  # hot path: benchmarks/eager.py
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
            elif type(number) is int:
                fits = dtype.is_signed and -(2**31) <= number < 2**31 and dtype.itemsize > 2
            else:
                fits = type(number) is bool and dtype is bool_
            return np.array(number, dtype.numpy) if fits and self._number is None else None
        if other.dtype is dtype and other._strides is None:
            return other.array()
    return None


def shares_storage(self: Tensor, *others: Tensor) -> bool:
    """Whether other tensors share the storage of the tensor to write to. The tensor itself may be among them."""
    storage = self._storage
    return storage is not None and any(other._storage is storage and other is not self for other in others)


# Running a loop on arrays that need no cast ---------------------------------------------------------------------------


def run_loop(loop: Loop, out: Array, inputs: Sequence[Array], numbers: Sequence[Array] = ()) -> None:
    """Run `loop(out, *inputs, *numbers)` on arrays that need no casting; see Note [When threads pay]."""
    if out.size >= thresholds.TWO_THREADS_FROM and (parts := parts_of(out, inputs)) > 1:
        share(lambda out, *inputs: run_part(loop, out, inputs, numbers), out, inputs, parts)
    else:
        run_part(loop, out, inputs, numbers)


def run_part(loop: Loop, out: Array, inputs: Sequence[Array], numbers: Sequence[Array]) -> None:
    """`run_loop` in one thread."""
    if isinstance(loop, np.ufunc):
        quietly(loop, *inputs, out=out)
    elif out.size <= thresholds.BLOCK and out.ndim:
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


# The shortest path --------------------------------------------------------------------------------------------------
# One ufunc on row-major tensors of one shape and dtype that fit into the cache. `array`, `quietly` and `wrap` are
# inlined: three calls cost as much as adding eight numbers. `general` is the kernel for everything else. The fields
# are those that `tensor_of` fills in.

new = object.__new__
ONE = 1  # the default of alpha, compared by identity: True and 1.0 go to the plain kernel, which checks them


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


def shortest_binary(
    loop: Loop,
    direct: frozenset[dtype],
    produces: dtype | None,
    general: Kernel,
    recorded: Kernel | None = None,
    below: int = 0,
    takes_alpha: bool = True,
) -> Kernel:
    """The kernel of one ufunc on two tensors.

    With `recorded`, the autograd kernel, it stands in the place of that: the shortcut `two_tensors` is written out in
    it (autograd/shortcuts.py). `below` are the keys of what runs without a record.
    """

    def kernel(  # hot path: benchmarks/eager.py
        keys: int, self: Tensor, other: Tensor, alpha: Number = ONE, out: Tensor | None = None
    ) -> Tensor:
        if recorded is not None:
            if self._autograd_meta is not None or other._autograd_meta is not None:
                return recorded(keys, self, other, alpha) if takes_alpha else recorded(keys, self, other)
            keys = below
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

    def with_shortcut(recorded: Kernel, below: int, count: int) -> Kernel:
        return shortest_binary(loop, direct, produces, general, recorded, below, count > 2)

    kernel.with_shortcut = with_shortcut  # type: ignore[attr-defined]
    return kernel


# From a row to its short paths: a new tensor, and in place ------------------------------------------------------------


def unary(row: Row, plain: Kernel) -> Kernel:
    """The short path of an operator of one tensor."""
    loop, direct, real_of = row.loop, row.direct, (row.on_complex or row.loop) if row.real_of_complex else None

    def general(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if out is None and self._strides is None:
            if (dtype := self.dtype) in direct:
                return run_fresh(loop, self._shape, dtype, (self.array(),))
            if real_of is not None and dtype in COMPLEX_DTYPES:
                return run_fresh(real_of, self._shape, dtype.to_real(), (self.array(),))
        return plain(keys, self, out=out)

    return shortest_unary(loop, direct, general) if isinstance(loop, np.ufunc) else general


def unary_in_place(row: Row, plain: Kernel) -> Kernel:
    """The short path of its in-place form."""
    loop, direct = row.loop, row.direct

    def inplace(keys: int, self: Tensor) -> Tensor:
        if self._strides is not None or self.dtype not in direct:
            return plain(keys, self)
        x = self.array()
        run_loop(loop, x, (x,))
        return self

    return inplace


def binary_form(row: Row, plain: Kernel) -> Kernel:
    """The short path of an operator of two tensors."""
    loop, direct, produces, is_ufunc = row.loop, row.direct, row.produces, isinstance(row.loop, np.ufunc)
    takes_alpha = row.scaled is not None

    def general(  # hot path: benchmarks/eager.py
        keys: int, self: Tensor, other: Tensor, alpha: Number = ONE, out: Tensor | None = None
    ) -> Tensor:
        at_once, sizes, other_sizes = out is None and alpha is ONE, self._shape, other._shape
        if (
            at_once
            and self._number is None
            and (sizes == other_sizes or 0 not in sizes)
            and (y := other_operand(direct, self, other)) is not None
        ):
            x, result = self.array(), produces or self.dtype
            if sizes != other_sizes and sizes[len(sizes) - len(other_sizes) :] != other_sizes:
                return run_fresh(loop, broadcast_shapes(sizes, other_sizes), result, (x, y))
        elif at_once and self._number is not None and (number := other_operand(direct, other, self)) is not None:
            x, y, result, sizes = number, other.array(), produces or other.dtype, other_sizes
        else:
            return plain(keys, self, other, alpha, out=out) if takes_alpha else plain(keys, self, other, out=out)
        if is_ufunc and sizes and x.nbytes < LARGE and y.nbytes < LARGE:
            return wrap(quietly(loop, x, y), result)
        return run_fresh(loop, sizes, result, (x, y))

    return shortest_binary(loop, direct, produces, general) if is_ufunc else general


def binary_in_place(row: Row, plain: Kernel) -> Kernel:
    """The short path of its in-place form."""
    loop, direct, scaled, is_ufunc = row.loop, row.direct, row.scaled, isinstance(row.loop, np.ufunc)

    def inplace(  # hot path: benchmarks/eager.py
        keys: int, self: Tensor, other: Tensor, alpha: Number = ONE
    ) -> Tensor:
        storage, sizes = self._storage, other._shape
        if (
            (storage is None or other._storage is not storage or other is self)
            and (not sizes or sizes == self._shape)
            and (y := other_operand(direct, self, other)) is not None
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
            if type(alpha) is float and self.dtype.is_floating_point and scaled is not None:
                run_loop(scaled, x, (x, y), (np.array(number_as(alpha, self.dtype), x.dtype),))
                return self
        return plain(keys, self, other) if scaled is None else plain(keys, self, other, alpha)

    return inplace


def numbered(row: Row, plain: Kernel) -> Kernel:
    """The short path of an operator of several tensors and a number."""
    loop, direct = row.loop, row.direct

    def kernel(keys: int, *arguments: Any) -> Tensor:
        *tensors, value = arguments
        if not is_row_major(direct, *tensors):
            return plain(keys, *arguments)
        like = tensors[0]
        number = np.array(number_as(value, like.dtype), like.dtype.numpy)
        return run_fresh(loop, like._shape, like.dtype, [tensor.array() for tensor in tensors], (number,))

    return kernel


def numbered_in_place(row: Row, plain: Kernel) -> Kernel:
    """The short path of its in-place form."""
    loop, direct = row.loop, row.direct

    def inplace(keys: int, *arguments: Any) -> Tensor:
        *tensors, value = arguments
        if not is_row_major(direct, *tensors) or shares_storage(*tensors):
            return plain(keys, *arguments)
        self: Tensor = tensors[0]
        arrays = [tensor.array() for tensor in tensors]
        run_loop(loop, arrays[0], arrays, (np.array(number_as(value, self.dtype), arrays[0].dtype),))
        return self

    return inplace


# Installing them ------------------------------------------------------------------------------------------------------

ROW_MAJOR = "row-major tensors of one dtype and shape"
OR_NUMBER = "row-major tensors of one dtype, or one and a number"

Maker = Callable[[Row, Kernel], Kernel]


def plain_kernel(name: str) -> Kernel:
    """The plain CPU kernel of an operator."""
    kernel: Kernel = registry.find(f"aten::{name}").kernels[DispatchKey.CPU][-1].function
    return kernel


def in_place_forms(name: str) -> list[str]:
    """The in-place forms of an operator: one, or none."""
    return [form for form in FORMS.get(name, ()) if form.partition(".")[0].endswith("_")]


def install_rows(
    rows: dict[str, Row], made: Maker, made_in_place: Maker, when: str, benchmark: str
) -> dict[str, Kernel]:
    """Put short paths in front of operators, and of the in-place forms of those that keep the dtype."""
    kernels = {}
    for name, row in rows.items():
        kernels[name] = made(row, plain_kernel(name))
        install(name, kernels[name], when, benchmark, "bits")
        for form in in_place_forms(name) if row.produces is None else ():
            install(form, made_in_place(row, plain_kernel(form)), when, benchmark, "bits")
    return kernels


UNARY = {name: row for name, row in loops.UNARY.items() if name != "relu"}
install_rows(UNARY, unary, unary_in_place, "a row-major tensor", "1e6: exp")
BINARY = install_rows(loops.BINARY, binary_form, binary_in_place, OR_NUMBER, "`a + b`, 8 floats")
install_rows(loops.NUMBERED, numbered, numbered_in_place, ROW_MAJOR, "1e6: add")

for _name, (_of, _made) in loops.WITH_NUMBER.items():
    install(_name, _made(BINARY[_of]), OR_NUMBER, "`a * 2.0`, 8 floats", "bits")
