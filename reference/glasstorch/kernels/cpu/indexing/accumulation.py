"""How are slices written, and added to where one is named more than once, in the order of their names?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_add_cpu_, index_reduce_func_impl),
    aten/src/ATen/native/cpu/IndexKernel.cpp (cpu_index_put_accumulate)
Differs: NumPy's loops over many slices at once. See Note [In rounds].

# Note [In rounds]
`a[i] += b` of NumPy forgets all but one of several slices for one place, and `add.at`, which does not, takes a
nanosecond for each element of a vector and ten for each of a matrix. So slices go in rounds. Each round takes, of the
slices that are left, the first for each place: no place comes twice among them, and NumPy may take them together. The
order for each place is that of the index. When a round would be short, few places are left, and NumPy reduces what is
left for each place at once: down the rows of a matrix it takes one row after the other.

Short slices of a row-major array go through `at` element by element, so many parts of the dimensions in front at once
that the places of their elements, the same for the next parts, stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.iterator import WIDE_BLOCK

WIDE = 16  # elements that lie together from which slices go in rounds
WIDEST = 256  # elements of a slice from which each place is reduced alone
SHORT = 24  # slices in a round from which it costs less than one place after the other
OFTEN = 40  # indices for each place from which the rounds cost more than their places one by one


def reduce_slices(ufunc: np.ufunc, array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = ufunc(array[i], values[n])` for each index i, the n-th, of a dimension, in order.

    The array has dimensions and the indices are in range.
    """
    if not values.size:
        return
    if _short(array, dim):
        for part, places, given in _parts(array, dim, chosen, values):
            ufunc.at(part, places, given)
    else:
        rows = np.moveaxis(array, dim, 0)
        short = SHORT if prod(rows.shape[1:]) < WIDEST else len(chosen)
        _in_rounds(ufunc, rows, chosen, np.moveaxis(values, dim, 0), short)


def write_slices(array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = values[n]` for each index i, the n-th, of a dimension, in order.

    The array has dimensions and the indices are in range.
    """
    if not values.size:
        return
    if _short(array, dim):
        for part, places, given in _parts(array, dim, chosen, values):
            part[places] = given
    else:
        np.moveaxis(array, dim, 0)[chosen] = np.moveaxis(values, dim, 0)


def _short(array: Array, dim: int) -> bool:
    """Whether little lies together."""
    return prod(array.shape[dim + 1 :]) < WIDE and array.flags.c_contiguous


def _in_rounds(ufunc: np.ufunc, rows: Array, chosen: Array, values: Array, short: int) -> None:
    """See Note [In rounds]."""
    first = np.empty(len(rows), np.int64)
    left = np.arange(len(chosen))
    while len(left) > short:
        places = chosen[left]
        first[places[::-1]] = left[::-1]  # the last that is written stays: the first
        now = first[places] == left
        count = np.count_nonzero(now)
        if count < short or count * OFTEN < len(left):
            break
        taken, at = left[now], places[now]
        rows[at] = ufunc(rows[at], values if len(taken) == len(values) else values[taken])
        left = left[~now]
    if len(left):
        _place_by_place(ufunc, rows, chosen[left], left, values)


def _place_by_place(ufunc: np.ufunc, rows: Array, places: Array, left: Array, values: Array) -> None:
    """Reduce the slices that are left, `values[left[n]]` for `places[n]`."""
    order = np.argsort(places, kind="stable")
    sorted_places = places[order]
    starts = np.flatnonzero(np.append(True, sorted_places[1:] != sorted_places[:-1])).tolist()
    for start, stop in zip(starts, [*starts[1:], len(order)], strict=True):
        i, taken = sorted_places[start], left[order[start:stop]]
        if len(taken) == 1:
            rows[i] = ufunc(rows[i], values[taken[0]])
        else:
            rows[i] = _one_after_the_other(ufunc, rows[i], values, taken)


def _one_after_the_other(ufunc: np.ufunc, total: Array, values: Array, taken: Array) -> Array:
    """The slices that are taken, reduced in their order, beginning with a total."""
    if total.size == 1:  # of a single column NumPy adds up halves
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
    """Short slices of a row-major array by the place of each element, for some parts of dimensions in front at once."""
    inner = prod(array.shape[dim + 1 :])
    places = chosen if inner == 1 else (chosen.reshape(-1, 1) * inner + np.arange(inner)).reshape(-1)
    parts = array.reshape(-1, array.shape[dim] * inner)
    given = values.reshape(len(parts), -1)
    together = max(1, min(len(parts), WIDE_BLOCK // places.size))
    places = (np.arange(0, together * parts.shape[1], parts.shape[1]).reshape(-1, 1) + places).reshape(-1)
    for start in range(0, len(parts), together):
        part = given[start : start + together].reshape(-1)
        yield parts[start : start + together].reshape(-1), places[: part.size], part
