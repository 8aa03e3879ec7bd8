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
from glasstorch.kernels.cpu.copies import clone
from glasstorch.kernels.cpu.indexing.advanced import CPU, first_outside, nonzero_columns
from glasstorch.kernels.cpu.indexing.scattering import COPY_BELOW_RATIO
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import check_no_overlap, check_writable, structured
from glasstorch.operators.composite.indexing import check_take
from glasstorch.operators.shapes.indexing import placing as shapes
from glasstorch.operators.shapes.scalars import number_as


@CPU.impl("take")
def take(keys: int, self: Tensor, index: Tensor) -> Tensor:
    """Elements by flat index in row-major order; a negative index counts from the end."""
    check_take(self, index)
    indices, size = index.array(), self.numel()
    source = self.array()
    try:
        if source.flags.c_contiguous or size < COPY_BELOW_RATIO * indices.size:
            picked = source.reshape(-1).take(indices)
        else:  # which copies nothing else
            picked = source[np.unravel_index(np.where(indices < 0, indices + size, indices), source.shape)]
    except (IndexError, ValueError):
        raise out_of_range(first_outside(indices, -size, size), size) from None
    return wrap(np.asarray(picked), self.dtype)


def out_of_range(number: int | None, size: int) -> DimensionError:
    """The error for a flat index that is out of range for a tensor of this size."""
    return DimensionError(f"out of range: tried to access index {number} on a tensor of {size} elements.")


def put(keys: int, self: Tensor, index: Tensor, source: Tensor, accumulate: bool, out: Tensor | None = None) -> Tensor:
    """Write or accumulate elements by flat index in row-major order; a negative index counts from the end."""
    shapes.put(self, index, source, accumulate)
    size = self.numel()
    if index.numel():
        check_implemented("take_put_cpu", self.dtype, STORED_ONLY)
        outside = first_outside(index.array(), -size, size)
        if outside is not None:
            raise out_of_range(outside, size)
    if out is None:
        out = clone(keys, self, None)
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
    values = source.array().reshape(-1)[:count]
    if out is None:
        result = np.array(np.broadcast_to(self.array(), shape), order="C")
        result[chosen] = values
        return wrap(result, self.dtype)
    out.array()[chosen] = values  # NumPy copies them first where they overlap with the tensor
    return out


structured(CPU, "put", put)
structured(CPU, "masked_scatter", masked_scatter)


def nonzero_static(keys: int, self: Tensor, size: int, fill_value: int, out: Tensor | None = None) -> Tensor:
    """The first `size` rows of the result of `nonzero`, padded with rows of the fill value."""
    shape = shapes.nonzero_static(self, size, fill_value).shape
    rows: Array = nonzero_columns(self).T[:size]
    if out is None:
        out = wrap(np.empty(shape, np.int64), int64)
    else:
        check_writable(out, (self,))
    result = out.array()
    result[: len(rows)] = rows
    result[len(rows) :] = number_as(fill_value, int64)
    return out


structured(CPU, "nonzero_static", nonzero_static)
