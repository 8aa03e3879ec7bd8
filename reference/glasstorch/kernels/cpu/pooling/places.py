"""Which elements does each window read?

Mirrors: the loops of aten/src/ATen/native/cpu/MaxPoolKernel.cpp; start_index and end_index in
    aten/src/ATen/native/AdaptivePooling.h; generate_intervals in FractionalMaxPooling.h
Differs: one table for each dimension says what the windows read, so that one loop serves sliding, adaptive and
    fractional windows in two and three dimensions.

# Note [Windows as tables]
Windows are the same rectangles for every plane, so each dimension has its own table: `positions[k, o]` is what the
window `o` reads as its k-th element along this dimension, and `inside[k, o]` says whether that is an element of the
input, and not of the padding or beyond the end of a shorter window. The k-th elements of all windows are read at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.operators.shapes.pooling.windows import Windows


@dataclass(frozen=True, eq=False)
class Along:
    """What windows read along one dimension: arrays of shape (k, outputs) or (k, planes, outputs).

    See Note [Windows as tables]. A table is equal to itself alone, so that what is worked out of it can be kept for it.
    """

    size: int  # of the input
    positions: Array
    inside: Array
    counted: Array  # whether an element, or one of the padding, is counted by an average that includes the padding
    first: Array  # the position that each window begins at, behind the padding


@lru_cache(maxsize=256)
def sliding(one: Windows) -> Along:
    """Windows of one size at equal distances."""
    begins = np.arange(one.outputs) * one.stride - one.padding
    positions = begins + (np.arange(one.kernel) * one.dilation)[:, None]
    inside, counted = (positions >= 0) & (positions < one.size), positions < one.size + one.padding
    return Along(one.size, positions, inside, counted, np.where(begins < 0, begins % one.dilation, begins))


@lru_cache(maxsize=256)
def adaptive(size: int, count: int) -> Along:
    """So many windows spread over an input; neighbours may overlap by an element."""
    outputs = np.arange(count)
    begins, ends = outputs * size // max(count, 1), -((outputs + 1) * -size // max(count, 1))
    return _spans(size, begins, ends)


def fractional(size: int, count: int, kernel: int, samples: Array) -> Along:
    """Windows of one size at distances that a random number of each plane decides: samples of shape (planes,)."""
    step = samples.dtype.type((size - kernel) / (count - 1)) if count > 1 else samples.dtype.type(0)
    outputs = np.arange(count)
    begins = ((outputs + samples[:, None]) * step).astype(np.int64) - (samples[:, None] * step).astype(np.int64)
    begins[:, -1] = size - kernel
    return _spans(size, begins, begins + kernel)


def _spans(size: int, begins: Array, ends: Array) -> Along:
    longest = int((ends - begins).max(initial=1))
    positions = begins + np.arange(longest).reshape(-1, *(1,) * begins.ndim)
    return Along(size, positions, positions < ends, positions < ends, begins)


def planes_of(array: Array, dims: int) -> Array:
    """The last dimensions of an array, each flattened, of shape (planes, elements); a view where it can be."""
    return array.reshape(prod(array.shape[:-dims]), prod(array.shape[-dims:]))


def each_place(tables: Sequence[Along]) -> Iterator[tuple[Array, Array, Array]]:
    """For one element of every window after another: where it is in its plane, whether it is inside, and counted.

    Arrays of shape (1, *outputs) or (planes, *outputs); an element outside is said to be at 0.
    """
    for chosen in product(*(range(len(table.positions)) for table in tables)):
        at, inside, counted = (np.zeros((1,) * (len(tables) + 1), kind) for kind in (np.int64, bool, bool))
        inside, counted = ~inside, ~counted
        for dim, (table, k) in enumerate(zip(tables, chosen, strict=True)):
            along = _axes(dim, len(tables))
            at = at * table.size + _laid_along(table.positions[k], along)
            inside = inside & _laid_along(table.inside[k], along)
            counted = counted & _laid_along(table.counted[k], along)
        yield np.where(inside, at, 0), inside, counted


def first_places(tables: Sequence[Along]) -> Array:
    """Where each window begins in its plane, behind the padding; shaped as what `each_place` yields."""
    at = np.zeros((1,) * (len(tables) + 1), np.int64)
    for dim, table in enumerate(tables):
        at = at * table.size + _laid_along(table.first, _axes(dim, len(tables)))
    return at


def _axes(dim: int, dims: int) -> Shape:
    """The axes besides those of planes and of this dimension."""
    return tuple(1 + axis for axis in range(dims) if axis != dim)


def _laid_along(row: Array, others: Shape) -> Array:
    """One row of a table, of shape (outputs,) or (planes, outputs), with a size of 1 for the other dimensions."""
    return np.expand_dims(np.atleast_2d(row), others)


def rows_of(planes: Array, dims: int) -> Array:
    """The number of each plane, ready to be broadcast with what `each_place` yields."""
    return np.arange(len(planes)).reshape(-1, *(1,) * dims)
