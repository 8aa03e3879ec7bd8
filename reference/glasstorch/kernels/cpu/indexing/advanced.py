"""How are elements gathered and written by tensors of indices on the CPU?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp, aten/src/ATen/native/cpu/IndexKernel.cpp
Differs: NumPy's advanced indexing has the same rules for index and index_put; an out-of-range index is searched for
    only after NumPy has refused it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, make, wrap
from glasstorch.core.dtype import STORED_ONLY, check_implemented, int64, uint8, uint16, uint32, uint64
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, IndexValueError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.copies import clone
from glasstorch.kernels.cpu.transformations import holding
from glasstorch.kernels.indexing import look_before_put, warn_of_bytes
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import check_no_overlap, check_writable, finish, resize_output, shape_function
from glasstorch.operators.shapes.indexing import advanced as shapes
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")

Indices = Sequence[Tensor | None]

UNSIGNED = (uint16, uint32, uint64)  # most kernels refuse these, and some refuse all of STORED_ONLY
OUT_OF_BOUNDS = "index {index} is out of bounds for dimension {dim} with size {size}"

# index, index_put -----------------------------------------------------------------------------------------------


@CPU.impl("index.Tensor")
def index(keys: int, self: Tensor, indices: Indices) -> Tensor:
    """The selected elements, as a fresh tensor."""
    result = shapes.index(self, indices)
    at = numpy_index(self, indices, result.shape)
    if all(type(entry) is slice for entry in at):
        raise DimensionError("at least one index must be provided")
    return allocate_output(result) if 0 in result.shape else holding(result, self.array()[at])


@CPU.impl("index_put_")
def index_put_(keys: int, self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Tensor:
    """Write or accumulate the values at the indexed elements."""
    return put(self, indices, values, accumulate, look_before_put(self, indices, values, accumulate))


@CPU.impl("index_put")
def index_put(keys: int, self: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Tensor:
    """A copy with the values written."""
    filled = shapes.fills_mask(indices, values, accumulate)
    return put(clone.run(keys, self, None), indices, values, accumulate, filled)


def put(target: Tensor, indices: Indices, values: Tensor, accumulate: bool, filled: bool) -> Tensor:
    """Write the values into the tensor; `filled`: one value, wherever a mask is true."""
    shapes.check_put(target, indices, values, accumulate)
    check_implemented("masked_fill" if filled else "index_put", target.dtype, STORED_ONLY if filled else UNSIGNED)
    source = np.asarray(number_as(values.item(), target.dtype)) if filled else values.array()
    quietly(put_at.run, target, indices, source, accumulate, filled)
    return target


@slot
def put_at(target: Tensor, indices: Indices, values: Array, accumulate: bool, filled: bool) -> None:
    """Write the values, or add one after another."""
    shape = shapes.plan_of(target._shape, indices).shape
    at = numpy_index(target, indices, shape, filled)
    if accumulate and 0 not in shape:
        np.add.at(target.array(), at, np.broadcast_to(values, shape))  # NumPy 2.4 would broadcast them wrongly
    elif filled or 0 not in shape:
        target.array()[at] = values


def numpy_index(self: Tensor, indices: Indices, shape: Shape, filled: bool = False) -> tuple[Any, ...]:
    """The indices as NumPy takes them: None keeps a dimension, and a mask becomes the indices of its true elements.

    Those of an empty selection may be out of range. A mask without dimensions indexes none, and so it is left out, true
    or not, unless it alone decides whether a value fills the tensor.
    """
    at: list[Any] = []
    for tensor in indices:
        if tensor is None:
            at.append(slice(None))
        elif tensor.dtype in shapes.MASKS:
            if tensor.dtype is uint8:
                warn_of_bytes()
            mask = tensor.array().astype(np.bool_)
            at += np.nonzero(mask) if mask.ndim else [mask] * filled
        else:
            if 0 not in shape:
                check_inside(self._shape, len(at), tensor.array(), DimensionError, negative=True)
            at.append(tensor.array())
    if any(tensor is not None for tensor in indices) and all(type(entry) is slice for entry in at):
        raise ArgumentError("index: expected an index of a dimension; masks without dimensions index none")
    return tuple(at)


def with_dimension(tensor: Tensor) -> Array:
    """The elements as an array; a 0-dim tensor gets a dimension of size 1."""
    array = tensor.array()
    return array if array.ndim else array.reshape(1)


@slot
def first_outside(index: Array, least: int, limit: int) -> int | None:
    """The first index below `least` or not below `limit`; None if all are in range."""
    outside = index[(index < least) | (index >= limit)]
    return int(outside[0]) if outside.size else None


def check_inside(
    shape: Shape,
    dim: int,
    index: Array,
    error: type[Exception] = IndexValueError,
    words: str = OUT_OF_BOUNDS,
    negative: bool = False,
) -> None:
    """Refuse an index that is too large for its dimension, or negative, unless that counts from the end."""
    size = shape[dim] if shape else 1
    outside = first_outside.run(index, -size if negative else 0, size)
    if outside is not None:
        raise error(words.format(index=outside, dim=dim, size=size))


# index_select, masked_select, nonzero ---------------------------------------------------------------------------


@CPU.impl("index_select")
def index_select(keys: int, self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of one dimension that a vector selects; no index may be negative."""
    shape = shapes.index_select(self, dim, index).shape
    if len(self._shape) < 2:
        check_implemented("index_select", self.dtype, UNSIGNED)
    source, chosen = with_dimension(self), index.array().reshape(-1)
    dim = wrap_dim(dim, source.ndim)
    size = source.shape[dim]
    outside = first_outside.run(chosen, 0, size)
    if outside is not None:
        if source.ndim > 1 and not size:
            raise IndexValueError("index_select(): self indexing axis dim should be positive")
        if source.ndim > 1 and (dim == 1 or not source.size):
            raise IndexValueError(f"INDICES element is out of DATA bounds, id={outside} axis_dim={size}")
        raise DimensionError("index out of range in self")
    return wrap(source.take(chosen, dim).reshape(shape), self.dtype)


@CPU.impl("masked_select")
def masked_select(keys: int, self: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask is true, in row-major order, after both were broadcast together."""
    shapes.masked_select(self, mask)
    source, chosen = np.broadcast_arrays(self.array(), mask.array())
    picked = source[chosen]
    if picked.size:
        check_implemented("masked_select", self.dtype, UNSIGNED)
    return wrap(picked, self.dtype)


def register_out(name: str, select: Callable[..., Tensor]) -> None:
    """Register the out= form of a kernel; PyTorch checks for overlap before it resizes `out`."""
    shape = shape_function(name)

    def with_out(keys: int, *arguments: Any) -> Tensor:
        *inputs, out = arguments
        result = shape(*inputs)
        result.check_out(result.dtype, out.dtype)
        check_no_overlap(out, inputs)
        resize_output(out, result.shape)
        out.array()[...] = select(keys, *inputs).array()
        return out  # type: ignore[no-any-return]

    CPU.add(f"{name}.out", with_out)


register_out("index_select", index_select)
register_out("masked_select", masked_select)


@CPU.impl("nonzero")
def nonzero(keys: int, self: Tensor) -> Tensor:
    """One row of indices for each nonzero element; as in PyTorch the columns are contiguous."""
    columns = nonzero_columns(self)
    shape = columns.shape[::-1]
    return make(Storage.over(columns, resizable=True), int64, shape, (1, shape[0]), 0)


@CPU.impl("nonzero.out")
def nonzero_out(keys: int, self: Tensor, out: Tensor) -> Tensor:
    """As `nonzero`, written to a tensor."""
    if out.dtype is not int64:
        raise DtypeError(
            f"nonzero: Expected out tensor to have scalar type Long but got scalar type{out.dtype.scalar_name}"
        )
    rows = nonzero_columns(self).T
    resize_output(out, rows.shape)
    check_writable(out, (self,))
    return finish(rows, int64, out)


def nonzero_columns(tensor: Tensor) -> Array:
    """The indices of the nonzero elements, one row for each dimension."""
    check_implemented("nonzero_count_cpu", tensor.dtype, STORED_ONLY)
    columns = np.stack(np.nonzero(with_dimension(tensor)))
    return columns if tensor._shape else columns[:0]
