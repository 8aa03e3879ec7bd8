"""How do flat indices and masks read and write elements, and how are a given number of nonzero elements found?

Mirrors: aten/src/ATen/native/cpu/IndexKernel.cpp (take_kernel, put_kernel, masked_scatter_kernel),
    aten/src/ATen/native/TensorAdvancedIndexing.cpp (put_, masked_scatter__cpu, nonzero_static_out_cpu)
Differs: an index out of range, or a source that is too short, is refused before anything is written.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import STORED_ONLY, check_implemented, int64
from glasstorch.core.errors import DimensionError, ShapeError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.copies import clone
from glasstorch.kernels.cpu.indexing.advanced import CPU, check_inside, nonzero_columns
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import check_no_overlap, check_writable, finish, structured
from glasstorch.operators.composite.indexing import check_take
from glasstorch.operators.shapes.indexing import placing as shapes
from glasstorch.operators.shapes.scalars import number_as

OUT_OF_RANGE = "out of range: tried to access index {index} on a tensor of {size} elements."


@CPU.impl("take")
def take(keys: int, self: Tensor, index: Tensor) -> Tensor:
    """Elements by flat index in row-major order; a negative index counts from the end."""
    check_take(self, index)
    try:
        return wrap(np.asarray(taken.run(self.array(), index.array())), self.dtype)
    except (IndexError, ValueError):
        check_inside((self.numel(),), 0, index.array(), DimensionError, OUT_OF_RANGE, negative=True)
        raise


@slot
def taken(source: Array, indices: Array) -> Array:
    """Elements by flat index in row-major order."""
    return source.flat[indices]


@structured(CPU, "put")
def put(keys: int, self: Tensor, index: Tensor, source: Tensor, accumulate: bool, out: Tensor | None = None) -> Tensor:
    """Write or accumulate elements by flat index in row-major order; a negative index counts from the end."""
    shapes.put(self, index, source, accumulate)
    if index.numel():
        check_implemented("take_put_cpu", self.dtype, STORED_ONLY)
        check_inside((self.numel(),), 0, index.array(), DimensionError, OUT_OF_RANGE, negative=True)
    if out is None:
        out = clone.run(keys, self, None)
    else:
        check_no_overlap(out, (index, source))
    target, indices, values = out.array(), index.array().reshape(-1), source.array().reshape(-1)
    flat = target.reshape(-1)  # a copy where the tensor is non-contiguous
    if accumulate:
        quietly(np.add.at, flat, indices, values)
    else:
        flat[indices] = values
    if not target.flags.c_contiguous:
        target[...] = flat.reshape(target.shape)
    return out


@structured(CPU, "masked_scatter")
def masked_scatter(keys: int, self: Tensor, mask: Tensor, source: Tensor, out: Tensor | None = None) -> Tensor:
    """Write the source's elements, in order, where the mask is true."""
    shape = shapes.masked_scatter(self, mask, source).shape
    check_implemented("masked_scatter", self.dtype, STORED_ONLY)
    chosen = np.broadcast_to(mask.array(), shape)
    count, given = int(np.count_nonzero(chosen)), source.numel()
    if count > given:
        raise ShapeError(
            f"Number of elements of source < number of ones in mask: the source has {given}, the mask {count}"
        )
    target = np.array(np.broadcast_to(self.array(), shape), order="C") if out is None else out.array()
    target[chosen] = source.array().reshape(-1)[:count]  # NumPy copies them first where they overlap with the tensor
    return wrap(target, self.dtype) if out is None else out


@structured(CPU, "nonzero_static")
def nonzero_static(keys: int, self: Tensor, size: int, fill_value: int, out: Tensor | None = None) -> Tensor:
    """The first `size` rows of the result of `nonzero`, padded with rows of the fill value."""
    shape = shapes.nonzero_static(self, size, fill_value).shape
    rows: Array = nonzero_columns(self).T[:size]
    if out is not None:
        check_writable(out, (self,))
    result = np.full(shape, number_as(fill_value, int64), np.int64)
    result[: len(rows)] = rows
    return finish(result, int64, out)
