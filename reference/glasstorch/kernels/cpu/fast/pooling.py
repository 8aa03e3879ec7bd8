"""How are windows at equal distances read fast?

The k-th elements of all windows are then a slice with a step, which NumPy reads without indices, once the input is
padded with what changes no result.

Mirrors: aten/src/ATen/native/cpu/MaxPoolKernel.cpp, AvgPoolKernel.cpp
Differs: PyTorch takes one window after another, and a vector of channels at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import chunks, fresh
from glasstorch.kernels.cpu.pooling import averages as plain_averages
from glasstorch.kernels.cpu.pooling import maxima as plain_maxima
from glasstorch.kernels.cpu.pooling.places import Along, first_places, planes_of
from glasstorch.kernels.halves import widened


class Steps(NamedTuple):
    """Windows at equal distances along one dimension: where the k-th elements begin, and how far apart they are."""

    starts: list[int]
    step: int
    outputs: int
    before: int  # elements of padding
    after: int

    def taken(self, k: int) -> slice:
        """The k-th elements of all windows, of the padded input."""
        start = self.starts[k] + self.before
        return slice(start, start + self.step * (self.outputs - 1) + 1, self.step)


def steps(table: Along) -> Steps | None:
    """The windows of a table, if they are of one length and at equal distances."""
    positions = table.positions
    if positions.ndim != 2 or not positions.size:
        return None
    if not np.array_equal(table.inside, (positions >= 0) & (positions < table.size)):
        return None  # some windows are shorter than others
    first = positions[0]
    step = int(first[1] - first[0]) if len(first) > 1 else 1
    even = first[0] + step * np.arange(len(first))
    if step < 1 or not np.array_equal(positions, positions[:, :1] - first[0] + even):
        return None
    return Steps(
        positions[:, 0].tolist(),
        step,
        len(first),
        max(0, -int(first[0])),
        max(0, int(positions.max()) + 1 - table.size),
    )


def all_steps(tables: Sequence[Along]) -> list[Steps] | None:
    """The windows along every dimension; None where some are not at equal distances, or not of one length."""
    return _all_steps(tuple(tables))


@lru_cache(maxsize=256)
def _all_steps(tables: tuple[Along, ...]) -> list[Steps] | None:
    found = [one for table in tables if (one := steps(table)) is not None]
    return found if len(found) == len(tables) else None


@lru_cache(maxsize=256)
def offsets(tables: tuple[Along, ...]) -> tuple[Array, Array]:
    """Where the first element of each window is in its plane, and how far from it the k-th is, for k from 1 on.

    The first of the distances, for a window of which no element is the largest, is 0.
    """
    begins, distances = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for table in tables:
        first = table.positions[0]
        begins = begins[..., None] * table.size + first
        distances = distances[..., None] * table.size + table.positions[:, 0] - first[0]
    return begins, np.concatenate([[0], distances.ravel()])


def padded(array: Array, along: Sequence[Steps], value: Any) -> Array:
    """The input with so much of a value around it that every window lies within."""
    around = [(0, 0)] * (array.ndim - len(along)) + [(one.before, one.after) for one in along]
    return np.pad(array, around, constant_values=value) if any(map(any, around)) else array


def parts(array: Array, along: Sequence[Steps]) -> Iterator[Array]:
    """The k-th elements of all windows, in the order of `each_place`: views of a padded array."""
    for chosen in product(*(range(len(one.starts)) for one in along)):
        index: tuple[Any, ...] = (..., *(one.taken(k) for one, k in zip(along, chosen, strict=True)))
        yield array[index]


EQUALLY_FAR_APART = "the windows have one length and are equally far apart"


@fast(plain_maxima.largest, when=EQUALLY_FAR_APART, benchmark="fast: max_pool2d, 64x32x8x8", exact="bits")
def largest(array: Array, tables: Sequence[Along]) -> tuple[Array, Array]:
    along = all_steps(tables)
    if along is None or not array.size:
        return plain_maxima.largest.plain(array, tables)
    wide = widened(array)
    lowest = plain_maxima.lowest(wide.dtype)
    begins, distances = offsets(tuple(tables))
    # Which of its elements each window took, counted from 1: the number grows, so the larger of two is the later.
    number = np.int8 if len(distances) <= np.iinfo(np.int8).max else np.int32
    whole = padded(wide, along, lowest)
    values = parts(whole, along)
    if whole is wide:
        best = next(values).copy()
        taken = np.ones(best.shape, number)
    else:
        best = np.full((*array.shape[: -len(tables)], *(one.outputs for one in along)), lowest)
        taken = np.zeros(best.shape, number)
    for k, value in enumerate(values, 2 if whole is wide else 1):
        better = value > best
        np.maximum(best, value, out=best)
        np.maximum(taken, np.multiply(better, number(k), dtype=number), out=taken)
    if wide.dtype.kind == "f" and np.isnan(best).any():
        return plain_maxima.largest.plain(array, tables)
    places = distances[taken]
    places += begins
    if whole is not wide and not taken.all():
        np.copyto(places, first_places(tables), where=taken == 0)
    return best, places


@fast(
    plain_maxima.spread,
    when="float32 and float64",
    benchmark="fast: max_pool2d backward, 64x32x8x8",
    exact="bits",
)
def spread(grad: Array, indices: Array, shape: tuple[int, ...], dims: int) -> Array:
    """Some planes at a time: their sums in float64 stay in cache, and none of the whole is made."""
    size = prod(shape[-dims:])
    if grad.dtype not in (np.float32, np.float64) or not grad.size:
        return plain_maxima.spread.plain(grad, indices, shape, dims)
    places, shares = planes_of(indices, dims), planes_of(grad, dims)
    sums = fresh((len(places), size), grad.dtype)
    step = max(1, thresholds.BLOCK // size)
    begins = size * np.arange(step)[:, None]
    for some in chunks(len(places), step):
        count = some.stop - some.start
        among = places[some] + begins[:count]
        found = np.bincount(among.ravel(), shares[some].ravel(), count * size)
        sums[some] = found.reshape(-1, size)
    return sums.reshape(shape)


@fast(plain_averages.averages, when=EQUALLY_FAR_APART, benchmark="fast: avg_pool2d, 64x32x8x8", exact="bits")
def averages(array: Array, tables: Sequence[Along], count_include_pad: bool, divisor: int | None) -> Array:
    along = all_steps(tables)
    if along is None or not array.size:
        return plain_averages.averages.plain(array, tables, count_include_pad, divisor)
    whole = padded(array, along, array.dtype.type(0))
    integers = array.dtype.kind in "iu"
    total = np.zeros(
        (*array.shape[: -len(tables)], *(one.outputs for one in along)), array.dtype if integers else np.float64
    )
    for values in parts(whole, along):
        total += values
    quotient: Array = total / divisors(tables, count_include_pad, divisor)
    return np.trunc(quotient) if integers else quotient


@fast(
    plain_averages.shared,
    when=EQUALLY_FAR_APART,
    benchmark="fast: avg_pool2d backward, 64x32x8x8",
    exact="bits",
)
def shared(
    grad: Array, tables: Sequence[Along], shape: tuple[int, ...], count_include_pad: bool, divisor: int | None
) -> Array:
    along = all_steps(tables)
    if along is None or not grad.size:
        return plain_averages.shared.plain(grad, tables, shape, count_include_pad, divisor)
    share = grad.astype(np.float64) / divisors(tables, count_include_pad, divisor)
    sizes = [one.before + table.size + one.after for one, table in zip(along, tables, strict=True)]
    whole: Array = np.zeros((*shape[: -len(tables)], *sizes), np.float64)
    for part in parts(whole, along):
        part += share
    inside: tuple[Any, ...] = (
        ...,
        *(slice(one.before, one.before + table.size) for one, table in zip(along, tables, strict=True)),
    )
    return whole[inside]  # type: ignore[no-any-return]


def divisors(tables: Sequence[Along], count_include_pad: bool, divisor: int | None) -> Any:
    """As the plain kernel's, without its dimension of planes."""
    found = plain_averages.divisors(tables, count_include_pad, divisor)
    return found if divisor is not None else found[0]
