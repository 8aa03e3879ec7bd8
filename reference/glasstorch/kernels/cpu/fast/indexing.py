"""How are elements gathered, written and accumulated by index fast?

Mirrors: aten/src/ATen/native/cpu/IndexKernel.cpp, aten/src/ATen/native/cpu/ScatterGatherKernel.cpp
Differs: NumPy's loops process many elements or slices at once.

# Note [Flat indices]
NumPy reads and writes by one vector of flat indices into row-major memory several times faster than by an index for
each dimension. The flat indices of a block are computed in a buffer that the next block overwrites, so that they stay
in cache. A non-contiguous array is copied to row-major memory first, and back if it is written to.

# Note [In rounds]
Where an index repeats, NumPy's `a[i] += b` keeps only one of the slices. `add.at` accumulates all of them, but takes a
nanosecond per element of a vector and ten per element of a matrix. So slices are processed in rounds. Each round takes
the first remaining slice for each target index: no index repeats within a round, so NumPy may process it in one call,
and each target receives its slices in index order. When a round would be short, few targets are left, and NumPy reduces
all remaining slices of each target in one call, row after row of a matrix.

Short slices of a row-major array go through `at` element by element. The leading dimensions are processed in parts, so
that the flat indices of one part, which the next part reuses, stay in cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import bool_, int32, int64
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.indexing import advanced, along, placing, scattering
from glasstorch.kernels.cpu.indexing.advanced import Indices
from glasstorch.kernels.cpu.transformations import holding
from glasstorch.operators.shapes.indexing import advanced as shapes

COUNT = np.arange(1024)  # 0, 1, 2 ..., sliced where the positions along a dimension are needed

# By tensors of indices -------------------------------------------------------------------------------------------


@fast("index.Tensor", when="an element is selected", benchmark="`x[i]`, 1,000 of 10,000 floats", exact="bits")
def index(keys: int, self: Tensor, indices: Indices) -> Tensor:
    """NumPy takes masks, and finds out by itself whether the indices are in range."""
    array, at = self.array(), as_numpy(indices)
    if at is None:
        return advanced.index(keys, self, indices)
    try:
        if len(at) == 1 and self._strides is None and at[0].dtype.kind == "i" and array.ndim:
            picked = array.take(at[0], 0)  # faster, but it would copy an array that is not row-major first
        else:
            picked = array[at]
    except IndexError:
        return advanced.index(keys, self, indices)
    if not picked.size or len(indices) > array.ndim:
        return advanced.index(keys, self, indices)
    if picked.ndim > 1 and not shapes.is_row_major(self, indices):
        return holding(shapes.index(self, indices), picked)
    return wrap(np.asarray(picked, order="C"), self.dtype)


@fast(
    advanced.put_at,
    when="no mask is of uint8 or without dimensions",
    benchmark="1e6: index_put of rows, added",
    exact="bits",
)
def put_at(target: Tensor, indices: Indices, values: Array, accumulate: bool, filled: bool) -> None:
    """As `index`. Slices are added as by `reduce_slices` where one vector is the only index."""
    array, at = target.array(), as_numpy(indices)
    if at is None:
        advanced.put_at.plain(target, indices, values, accumulate, filled)
        return
    try:
        if accumulate:
            add_at(array, at, values, target, indices)
        else:
            array[at] = values
    except IndexError:
        advanced.put_at.plain(target, indices, values, accumulate, filled)


def add_at(array: Array, at: tuple[Any, ...], values: Array, target: Tensor, indices: Indices) -> None:
    """Add values to the elements at indices."""
    chosen, dim = at[-1], len(at) - 1
    alone = type(chosen) is np.ndarray and chosen.ndim == 1 and chosen.dtype.kind == "i"
    alone = alone and not (dim and any(type(entry) is not slice for entry in at[:-1]))
    if alone and array.ndim == 1:
        np.add.at(array, at, values if values.shape == chosen.shape else np.broadcast_to(values, chosen.shape))
    elif alone and advanced.first_outside.run(chosen, 0, array.shape[dim]) is None:
        shape = (*array.shape[:dim], len(chosen), *array.shape[dim + 1 :])
        reduce_slices(np.add, array, dim, chosen, np.broadcast_to(values, shape))
    else:
        np.add.at(array, at, np.broadcast_to(values, shapes.plan_of(target._shape, indices).shape))


def as_numpy(indices: Indices) -> tuple[Any, ...] | None:
    """The indices, if NumPy takes them so: vectors of integers and masks with dimensions, one at least."""
    at: list[Any] = []
    given = False
    for tensor in indices:
        if tensor is None:
            at.append(slice(None))
        elif tensor.dtype is int64 or tensor.dtype is int32 or (tensor.dtype is bool_ and tensor._shape):
            at.append(tensor.array())
            given = True
        else:
            return None
    return tuple(at) if given else None


@fast(
    advanced.first_outside,
    when="every index is in range",
    benchmark="1e6: gather along rows",
    exact="bits",
)
def first_outside(index: Array, least: int, limit: int) -> int | None:
    """The extrema of the indices need no mask; read as unsigned, a negative index exceeds any limit."""
    if not index.size:
        return None
    if least == 0:
        if index.view(f"u{index.itemsize}").max() < limit:
            return None
    elif index.min() >= least and index.max() < limit:
        return None
    return advanced.first_outside.plain(index, least, limit)


@fast(
    placing.taken,
    when="row-major memory, or so many indices that a copy of it pays",
    benchmark="1e6: take",
    exact="bits",
)
def taken(source: Array, indices: Array) -> Array:
    """See Note [Flat indices]. What an expanded array repeats is not written out."""
    if source.flags.c_contiguous or source.size < thresholds.COPY_BELOW_RATIO * indices.size:
        return source.reshape(-1).take(indices)
    at: Array = np.where(indices < 0, indices + source.size, indices)
    return source[np.unravel_index(at, source.shape)]


# An index for each element ---------------------------------------------------------------------------------------


@fast(scattering.gathered, when="always", benchmark="1e6: gather along rows", exact="bits")
def gathered(source: Array, dim: int, index: Array) -> Array:
    """See Note [Flat indices]. What an expanded array repeats is not written out."""
    once = without_repeats(source, dim)
    if not once.flags.c_contiguous and once.size >= thresholds.COPY_BELOW_RATIO * index.size:
        return scattering.gathered.plain(source, dim, index)
    picked = empty_array(index.shape, source.dtype, index.size * source.itemsize)
    flat = once.reshape(-1)
    for part, indices in blocks_of(once.shape, dim, index):
        flat.take(indices, out=picked[part].reshape(-1), mode="clip")  # without a range check or a buffer
    return picked


@fast(scattering.place, when="always", benchmark="1e6: scatter_add along rows", exact="bits")
def place(target: Array, dim: int, index: Array, values: Array, ufunc: np.ufunc | None) -> None:
    """See Note [Flat indices]."""
    flat = target.reshape(-1)
    for part, indices in blocks_of(target.shape, dim, index):
        given = values[part].reshape(-1) if values.ndim else values
        if ufunc is None:
            flat[indices] = given
        else:
            ufunc.at(flat, indices, given)


def blocks_of(shape: Shape, dim: int, index: Array) -> Iterator[tuple[slice, Array]]:
    """Parts of the index along its first dimension, and the flat indices of the elements they select.

    The flat indices are a vector of int64 that the next part overwrites. In other dimensions where the tensor has size
    1 the index may be larger: they repeat its elements.
    """
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
    length = min(rows, max(1, thresholds.BLOCK * rows // index.size))
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


# Slices --------------------------------------------------------------------------------------------------------


@fast(
    along.reduce_slices,
    when="always, except products of complex numbers",
    benchmark="1e6: index_add of rows",
    exact="bits",
)
def reduce_slices(ufunc: np.ufunc, array: Array, dim: int, chosen: Array, values: Array) -> None:
    """Flat indices for short slices, otherwise rounds; see Note [In rounds]."""
    if not values.size:
        return
    if ufunc is np.multiply and array.dtype.kind == "c":  # NumPy rounds those of many elements otherwise
        along.reduce_slices.plain(ufunc, array, dim, chosen, values)
    elif _short(array, dim):
        for part, indices, given in _parts(array, dim, chosen, values):
            ufunc.at(part, indices, given)
    else:
        rows = np.moveaxis(array, dim, 0)
        short = thresholds.ROUND_FROM if prod(rows.shape[1:]) < thresholds.ROUNDS_BELOW_WIDTH else len(chosen)
        _in_rounds(ufunc, rows, chosen, np.moveaxis(values, dim, 0), short)


@fast(
    along.write_slices,
    when="slices of a row-major array that are shorter than 16 elements",
    benchmark="1e6: index_copy of columns",
    exact="bits",
)
def write_slices(array: Array, dim: int, chosen: Array, values: Array) -> None:
    """Flat indices for short slices; see Note [In rounds]."""
    if values.size and _short(array, dim):
        for part, indices, given in _parts(array, dim, chosen, values):
            part[indices] = given
    else:
        along.write_slices.plain(array, dim, chosen, values)


def _short(array: Array, dim: int) -> bool:
    """Whether slices are short: few contiguous elements in a row-major array."""
    return prod(array.shape[dim + 1 :]) < thresholds.ROUNDS_FROM_WIDTH and array.flags.c_contiguous


def _in_rounds(ufunc: np.ufunc, rows: Array, chosen: Array, values: Array, short: int) -> None:
    """See Note [In rounds]."""
    first = np.empty(len(rows), np.int64)
    left = np.arange(len(chosen))
    while len(left) > short:
        indices = chosen[left]
        first[indices[::-1]] = left[::-1]  # the last write wins: that of the first slice
        now = first[indices] == left
        count = np.count_nonzero(now)
        if count < short or count * thresholds.ROUNDS_UP_TO_REPEATS < len(left):
            break
        taken, at = left[now], indices[now]
        rows[at] = ufunc(rows[at], values if len(taken) == len(values) else values[taken])
        left = left[~now]
    if len(left):
        _index_by_index(ufunc, rows, chosen[left], left, values)


def _index_by_index(ufunc: np.ufunc, rows: Array, indices: Array, left: Array, values: Array) -> None:
    """Reduce the remaining slices: `values[left[n]]` into `indices[n]`."""
    order = np.argsort(indices, kind="stable")
    sorted_indices = indices[order]
    starts = np.flatnonzero(np.append(True, sorted_indices[1:] != sorted_indices[:-1])).tolist()
    for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
        i, taken = sorted_indices[start], left[order[start:stop]]
        if len(taken) == 1:
            rows[i] = ufunc(rows[i], values[taken[0]])
        else:
            rows[i] = _one_after_the_other(ufunc, rows[i], values, taken)


def _one_after_the_other(ufunc: np.ufunc, total: Array, values: Array, taken: Array) -> Array:
    """The taken slices, reduced in order, starting from a total."""
    if total.size == 1:  # NumPy adds a single column pairwise
        alone = total.reshape(1).copy()
        ufunc.at(alone, np.zeros(len(taken), np.int64), values[taken].reshape(-1))
        return alone.reshape(total.shape)
    height = max(1, min(len(taken), thresholds.WIDE_BLOCK // total.size))
    stack = np.empty((height + 1, *total.shape), total.dtype)
    for start in range(0, len(taken), height):
        part = taken[start : start + height]
        stack[0] = total
        stack[1 : len(part) + 1] = values[part]
        total = ufunc.reduce(stack[: len(part) + 1], 0, stack.dtype, initial=None)  # an initial 0 loses the sign of -0
    return total


def _parts(array: Array, dim: int, chosen: Array, values: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Short slices of a row-major array by the flat index of each element, for parts of the leading dimensions."""
    inner = prod(array.shape[dim + 1 :])
    indices = chosen if inner == 1 else (chosen.reshape(-1, 1) * inner + np.arange(inner)).reshape(-1)
    parts = array.reshape(-1, array.shape[dim] * inner)
    given = values.reshape(len(parts), -1)
    together = max(1, min(len(parts), thresholds.WIDE_BLOCK // indices.size))
    indices = (np.arange(0, together * parts.shape[1], parts.shape[1]).reshape(-1, 1) + indices).reshape(-1)
    for start in range(0, len(parts), together):
        part = given[start : start + together].reshape(-1)
        yield parts[start : start + together].reshape(-1), indices[: part.size], part
