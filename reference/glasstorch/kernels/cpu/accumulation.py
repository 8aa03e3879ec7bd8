"""How are slices written, and added to where one is named more than once, in the order of their names?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_add_cpu_, index_reduce_func_impl),
    aten/src/ATen/native/cpu/IndexKernel.cpp (cpu_index_put_accumulate)
Differs: NumPy's loops over many slices at once. See Note [In rounds].

# Note [In rounds]
`a[i] += b` of NumPy forgets all but one of several slices for one place, and `add.at`, which does not, takes a
nanosecond for each element of a vector and ten for each of a matrix. So slices go in rounds. Each round takes, of the
slices that are left, the first for each place: no place comes twice among them, and NumPy may take them together. The
order for each place is that of the index. When a round would be short, what is left goes slice by slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array

WIDE = 16  # elements that lie together from which slices go in rounds
WIDEST = 256  # and from which they go one by one
SHORT = 24  # slices in a round from which it costs less than one slice after the other


def reduce_slices(ufunc: np.ufunc, array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = ufunc(array[i], values[n])` for each index i, the n-th, of a dimension, in order.

    The array has dimensions and the indices are in range.
    """
    if not values.size:
        return
    inner = prod(array.shape[dim + 1 :])
    if inner >= WIDE or not array.flags.c_contiguous:
        short = SHORT if inner < WIDEST else len(chosen)
        _in_rounds(ufunc, np.moveaxis(array, dim, 0), chosen, np.moveaxis(values, dim, 0), short)
    else:
        for part, places, given in _parts(array, dim, chosen, values):
            ufunc.at(part, places, given)


def write_slices(array: Array, dim: int, chosen: Array, values: Array) -> None:
    """`array[i] = values[n]` for each index i, the n-th, of a dimension, in order.

    The array has dimensions and the indices are in range.
    """
    if not values.size:
        return
    if prod(array.shape[dim + 1 :]) >= WIDE or not array.flags.c_contiguous:
        np.moveaxis(array, dim, 0)[chosen] = np.moveaxis(values, dim, 0)
    else:
        for part, places, given in _parts(array, dim, chosen, values):
            part[places] = given


def _in_rounds(ufunc: np.ufunc, rows: Array, chosen: Array, values: Array, short: int) -> None:
    """See Note [In rounds]."""
    first = np.empty(len(rows), np.int64)
    left = np.arange(len(chosen))
    while len(left) > short:
        places = chosen[left]
        first[places[::-1]] = left[::-1]  # the last that is written stays: the first
        now = first[places] == left
        if np.count_nonzero(now) < short:
            break
        taken, at = left[now], places[now]
        rows[at] = ufunc(rows[at], values if len(taken) == len(values) else values[taken])
        left = left[~now]
    for n, i in zip(left.tolist(), chosen[left].tolist(), strict=True):
        rows[i] = ufunc(rows[i], values[n])


def _parts(array: Array, dim: int, chosen: Array, values: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Short slices of a row-major array by the place of each element: a part for all indices of dimensions in front."""
    inner = prod(array.shape[dim + 1 :])
    places = chosen if inner == 1 else (chosen.reshape(-1, 1) * inner + np.arange(inner)).reshape(-1)
    parts = array.reshape(-1, array.shape[dim] * inner)
    for part, given in zip(parts, values.reshape(len(parts), -1), strict=True):
        yield part, places, given
