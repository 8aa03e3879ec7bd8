"""How do gather and scatter read and write along one dimension, with an index for each element?

Mirrors: aten/src/ATen/native/cpu/ScatterGatherKernel.cpp, aten/src/ATen/native/TensorAdvancedIndexing.cpp
    (scatter_impl, scatter_reduce_two)
Differs: an index becomes a flat index into row-major memory, where NumPy reads and writes; a non-contiguous tensor is
    copied to and from such memory. `scatter` with reduce= does not warn that it is deprecated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import HALF_PRECISION, STORED_ONLY, Number, bool_, check_implemented
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.copies import clone
from glasstorch.kernels.cpu.indexing.advanced import COUNT, CPU, check_inside
from glasstorch.kernels.cpu.indexing.along import UFUNCS as SLICE_UFUNCS
from glasstorch.kernels.cpu.indexing.along import divide_by, identity
from glasstorch.kernels.iterator import BLOCK
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import check_no_overlap, structured
from glasstorch.operators.shapes.indexing import advanced as shapes
from glasstorch.operators.shapes.indexing import placing
from glasstorch.operators.shapes.scalars import number_as

UFUNCS: Final = {"sum": np.add, "add": np.add, "multiply": np.multiply, **SLICE_UFUNCS}
MOST_IN_INT32 = 2**31 - 2  # a count may be one larger than the number of indices
COPY_BELOW_RATIO = 4  # a non-contiguous tensor is copied unless it is this many times larger than the result
Blocks = Callable[[], Iterator[tuple[slice, Array]]]


def blocks_of(shape: Shape, dim: int, index: Array) -> Iterator[tuple[slice, Array]]:
    """Parts of the index along its first dimension, and the flat indices of the elements they select.

    The flat indices are a vector of int64 that the next part overwrites. In other dimensions where the tensor has size
    1 the index may be larger: they repeat its elements.
    """
    dim, shape, index = wrap_dim(dim, len(shape)), shape or (1,), np.atleast_1d(index)
    step = prod(shape[dim + 1 :])
    others: Any = 0
    for d, size in enumerate(index.shape):
        if d != dim and size > 1 and shape[d] > 1:
            count = COUNT[:size] if size <= COUNT.size else np.arange(size)
            others = others + (count * prod(shape[d + 1 :])).reshape(-1, *[1] * (index.ndim - 1 - d))
    rows = index.shape[0]
    if step == 1 and not np.ndim(others):
        yield slice(0, rows), index.reshape(-1).astype(np.int64, copy=False)
        return
    length = min(rows, max(1, BLOCK * rows // index.size))
    buffer = np.empty((length, *index.shape[1:]), np.int64)
    along_first = others.shape[0] > 1 if np.ndim(others) == index.ndim else False
    for start in range(0, rows, length):
        part = index[start : start + length]
        indices = buffer[: len(part)]
        added = others[start : start + length] if along_first else others
        np.add(part if step == 1 else np.multiply(part, step, out=indices, dtype=np.int64), added, out=indices)
        yield slice(start, start + length), indices.reshape(-1)


def without_repeats(array: Array, dim: int) -> Array:
    """The array with size 1 in the other dimensions that only repeat its elements."""
    cut = [slice(0, 1) if d != dim and not stride else slice(None) for d, stride in enumerate(array.strides)]
    part: Array = array[tuple(cut)]
    return part


def grid(shape: Shape, dim: int, index: Array) -> tuple[Any, ...]:
    """NumPy's index of the elements that an index selects, for any strides; see `blocks_of`."""
    every = [slice(size if shape[d] > 1 else 1) for d, size in enumerate(index.shape)]
    indices: list[Any] = list(np.ogrid[tuple(every)])
    indices[dim] = index
    return tuple(indices)


def gather(keys: int, self: Tensor, dim: int, index: Tensor, sparse_grad: bool, out: Tensor | None = None) -> Tensor:
    """result[i][j] = self[index[i][j]][j], for dim 0."""
    shapes.gather(self, dim, index, sparse_grad)
    picked = empty_array(index._shape, self.dtype.numpy, index.numel() * self.dtype.itemsize)
    if index.numel():
        check_implemented("scatter_gather_tensor_cpu", self.dtype, STORED_ONLY)
        at = index.array()
        check_inside(self._shape, dim, at)
        source = without_repeats(self.array(), wrap_dim(dim, len(self._shape)))
        if source.flags.c_contiguous or source.size < COPY_BELOW_RATIO * at.size:
            flat, rows = source.reshape(-1), np.atleast_1d(picked)
            for part, indices in blocks_of(source.shape, dim, at):
                flat.take(indices, out=rows[part].reshape(-1), mode="clip")  # without a range check or a buffer
        else:
            picked[...] = source[grid(source.shape, dim, at)]
    if out is None:
        return wrap(picked, self.dtype)
    check_no_overlap(out, (self, index))
    out.array()[...] = picked
    return out


def scatter_src(keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] = src[i][j], for dim 0; where an index repeats, the last write wins."""
    shapes.scatter_src(self, dim, index, src)
    return _scattered(self, dim, index, src, out, None)


def scatter_value(keys: int, self: Tensor, dim: int, index: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] = value, for dim 0."""
    shapes.scatter_value(self, dim, index, value)
    return _scattered(self, dim, index, number_as(value, self.dtype), out, None)


def scatter_add(keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, out: Tensor | None = None) -> Tensor:
    """result[index[i][j]][j] += src[i][j], for dim 0."""
    shapes.scatter_src(self, dim, index, src)
    return _scattered(self, dim, index, src, out, "sum")


def scatter_reduce(
    keys: int, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, out: Tensor | None = None
) -> Tensor:
    """As `scatter_src`, adding to or multiplying the elements there."""
    placing.scatter_reduce(self, dim, index, src, reduce)
    return _scattered(self, dim, index, src, out, reduce)


def scatter_value_reduce(
    keys: int, self: Tensor, dim: int, index: Tensor, value: Number, reduce: str, out: Tensor | None = None
) -> Tensor:
    """As `scatter_value`, adding to or multiplying the elements there."""
    placing.scatter_value_reduce(self, dim, index, value, reduce)
    return _scattered(self, dim, index, number_as(value, self.dtype), out, reduce)


def scatter_reduce_two(
    keys: int,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool,
    out: Tensor | None = None,
) -> Tensor:
    """As `scatter_src`, reducing with the elements there unless `include_self` is false."""
    placing.scatter_reduce_two(self, dim, index, src, reduce, include_self)
    reduce = placing.EXTREMA.get(reduce, reduce)
    if index.numel():
        if not include_self:
            check_implemented("scatter_reduce_exclude_input_init", self.dtype, STORED_ONLY)
        check_implemented("scatter_gather_tensor_cpu", self.dtype, STORED_ONLY)
        refused = (reduce == "mean" and self.dtype is bool_) or (reduce in ("amax", "amin") and self.dtype.is_complex)
        if refused:
            label = f"scatter_gather_tensor_cpu_reduce_{reduce}"
            raise not_implemented_for(label, self.dtype)
    elif reduce == "mean":
        check_implemented("div_floor_cpu", self.dtype, (bool_,))
    return _scattered(self, dim, index, src, out, reduce, include_self)


def _scattered(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor | Number,
    out: Tensor | None,
    reduce: str | None,
    include_self: bool = True,
) -> Tensor:
    """Write or reduce a source (a number, or a tensor at least as large as the index) into `out` or a copy."""
    at = index.array()
    if at.size:
        label = f"scatter_gather_{'tensor' if isinstance(source, Tensor) else 'scalar'}_cpu"
        check_implemented(label, self.dtype, STORED_ONLY)
        check_inside(self._shape, dim, at)
    if out is None:
        out = clone(0, self, contiguous_format)
    else:
        check_no_overlap(out, (index, source))
        if out is not self:
            out.array()[...] = self.array()
    if not at.size:
        return out
    target = out.array()
    values = np.asarray(source.array() if isinstance(source, Tensor) else source, target.dtype)
    if values.ndim:
        values = values[tuple(slice(size) for size in index._shape)]
    blocks = partial(blocks_of, self._shape, dim, at)
    half = self.dtype in HALF_PRECISION and reduce is not None  # summed in float32 and rounded once
    flat = target.reshape(-1) if not half else target.reshape(-1).astype(np.float32)  # a copy if non-contiguous
    quietly(place, flat, blocks, values.astype(np.float32) if half else values, reduce, include_self)
    if half or not target.flags.c_contiguous:
        target[...] = quietly(flat.astype, target.dtype).reshape(target.shape)
    if reduce == "mean":
        _divide(target, blocks, include_self, at.size)
    return out


def place(flat: Array, blocks: Blocks, values: Array, reduce: str | None, include_self: bool) -> None:
    """Write the values at their flat indices, or reduce them there, one after another."""
    if not include_self:
        for _, indices in blocks():
            flat[indices] = identity(str(reduce), flat.dtype)
    for part, indices in blocks():
        given = values[part].reshape(-1) if values.ndim else values
        if reduce is None:
            flat[indices] = given
        else:
            UFUNCS[reduce].at(flat, indices, given)


def _divide(target: Array, blocks: Blocks, include_self: bool, index_size: int) -> None:
    """Divide sums by counts in place."""
    counts = np.full(target.size, int(include_self), np.int32 if index_size <= MOST_IN_INT32 else np.int64)
    for _, indices in blocks():
        np.add.at(counts, indices, counts.dtype.type(1))
    divide_by(target, counts.reshape(target.shape))


structured(CPU, "gather", gather)
structured(CPU, "scatter.src", scatter_src)
structured(CPU, "scatter.value", scatter_value)
structured(CPU, "scatter_add", scatter_add)
structured(CPU, "scatter.reduce", scatter_reduce)
structured(CPU, "scatter.value_reduce", scatter_value_reduce)
structured(CPU, "scatter_reduce.two", scatter_reduce_two)
