"""How are slices written or accumulated in index order when an index repeats?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_add_cpu_, index_reduce_func_impl),
    aten/src/ATen/native/cpu/IndexKernel.cpp (cpu_index_put_accumulate)
Differs: NumPy's loops process many slices at once. See Note [In rounds].

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

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.iterator import WIDE_BLOCK

ROUNDS_FROM_WIDTH = 16  # contiguous elements from which slices are processed in rounds
ROUNDS_BELOW_WIDTH = 256  # elements of a slice from which each target is reduced by itself
MIN_ROUND = 24  # slices from which a round is cheaper than one target after another
MAX_REPEATS = 40  # slices per target from which rounds cost more than one target after another


def reduce_slices(ufunc: np.ufunc, array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = ufunc(array[i], values[n])` for the n-th index i of a dimension, in order.

    The array has at least one dimension, and the indices are in range.
    """
    if not values.size:
        return
    if _short(array, dim):
        for part, indices, given in _parts(array, dim, chosen, values):
            ufunc.at(part, indices, given)
    else:
        rows = np.moveaxis(array, dim, 0)
        short = MIN_ROUND if prod(rows.shape[1:]) < ROUNDS_BELOW_WIDTH else len(chosen)
        _in_rounds(ufunc, rows, chosen, np.moveaxis(values, dim, 0), short)


def write_slices(array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = values[n]` for the n-th index i of a dimension, in order.

    The array has at least one dimension, and the indices are in range.
    """
    if not values.size:
        return
    if _short(array, dim):
        for part, indices, given in _parts(array, dim, chosen, values):
            part[indices] = given
    else:
        np.moveaxis(array, dim, 0)[chosen] = np.moveaxis(values, dim, 0)


def _short(array: Array, dim: int) -> bool:
    """Whether slices are short: few contiguous elements in a row-major array."""
    return prod(array.shape[dim + 1 :]) < ROUNDS_FROM_WIDTH and array.flags.c_contiguous


def _in_rounds(ufunc: np.ufunc, rows: Array, chosen: Array, values: Array, short: int) -> None:
    """See Note [In rounds]."""
    first = np.empty(len(rows), np.int64)
    left = np.arange(len(chosen))
    while len(left) > short:
        indices = chosen[left]
        first[indices[::-1]] = left[::-1]  # the last write wins: that of the first slice
        now = first[indices] == left
        count = np.count_nonzero(now)
        if count < short or count * MAX_REPEATS < len(left):
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
    height = max(1, min(len(taken), WIDE_BLOCK // total.size))
    stack = np.empty((height + 1, *total.shape), total.dtype)
    for start in range(0, len(taken), height):
        part = taken[start : start + height]
        stack[0] = total
        stack[1 : len(part) + 1] = values[part]
        total = ufunc.reduce(stack[: len(part) + 1], 0, stack.dtype)
    return total


def _parts(array: Array, dim: int, chosen: Array, values: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Short slices of a row-major array by the flat index of each element, for parts of the leading dimensions."""
    inner = prod(array.shape[dim + 1 :])
    indices = chosen if inner == 1 else (chosen.reshape(-1, 1) * inner + np.arange(inner)).reshape(-1)
    parts = array.reshape(-1, array.shape[dim] * inner)
    given = values.reshape(len(parts), -1)
    together = max(1, min(len(parts), WIDE_BLOCK // indices.size))
    indices = (np.arange(0, together * parts.shape[1], parts.shape[1]).reshape(-1, 1) + indices).reshape(-1)
    for start in range(0, len(parts), together):
        part = given[start : start + together].reshape(-1)
        yield parts[start : start + together].reshape(-1), indices[: part.size], part
