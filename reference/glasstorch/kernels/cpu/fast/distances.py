"""How are the distances between the rows of two matrices computed fast?

# Note [One coordinate after another]
The differences of all pairs would be as many arrays of the result's size as there are coordinates. Therefore a few rows
at a time, or many small matrices, are compared coordinate by coordinate: the block of the result stays in cache, and
NumPy's loops run along its last dimension, which is contiguous.

Mirrors: aten/src/ATen/native/cpu/DistanceOpsKernel.cpp
Differs: PyTorch takes one pair after another, and a vector of coordinates at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, prod
from typing import Any

import numpy as np

from glasstorch.core.geometry import broadcast_shapes
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import distances as plain
from glasstorch.kernels.cpu.fast import thresholds

total: Callable[..., Any] = np.add.reduce


@fast(plain.lengths, when="always", benchmark="fast: cdist, 300 by 300 rows of 16", exact=32.0)
def lengths(left: Array, right: Array, p: float) -> Array:
    """See Note [One coordinate after another]."""
    if not left.size or not right.size:
        return plain.lengths.plain(left, right, p)
    (*ahead, rows, _), (*beside, columns, _) = left.shape, right.shape
    batch = broadcast_shapes(tuple(ahead), tuple(beside))
    left, right = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (left, right))
    distances = np.empty((*batch, rows, columns), left.dtype)
    if is_small(rows * columns):
        for some in blocks(prod(batch), rows * columns):
            ours, theirs = coordinates_first(left, right, some)
            distances.reshape(-1, rows, columns)[some] = lengths_in_block(ours, theirs, p).transpose(2, 0, 1)
    else:
        for index in np.ndindex(*batch):
            ours, theirs = left[index].T[:, :, None], np.ascontiguousarray(right[index].T)[:, None]
            for some in blocks(rows, columns):
                distances[index][some] = lengths_in_block(ours[:, some], theirs, p)
    return distances


def is_small(elements: int) -> bool:
    """Whether many matrices of this size fit into cache together, and so are processed together."""
    return elements <= thresholds.BLOCK // thresholds.CDIST_BATCHED_FROM


def blocks(count: int, elements_each: int) -> Iterator[slice]:
    """Slices over all rows, or all matrices of a batch, each of which fits into cache."""
    step = max(1, thresholds.BLOCK // max(1, elements_each))
    for start in range(0, count, step):
        yield slice(start, start + step)


def batch_last(array: Array, some: slice) -> Array:
    """Some matrices of a batch as (n, k, count), which gives NumPy long loops for small matrices too."""
    rows, columns = array.shape[-2:]
    return array.reshape(-1, rows, columns)[some].transpose(1, 2, 0).copy()


def coordinates_first(left: Array, right: Array, some: slice) -> tuple[Array, Array]:
    """The rows of some matrices as (k, n, 1, count), and those of the other side as (k, 1, m, count)."""
    ours, theirs = (batch_last(x, some).transpose(1, 0, 2) for x in (left, right))
    return ours[:, :, None], theirs[:, None]


def lengths_in_block(rows: Array, columns: Array, p: float) -> Any:
    """The p-norms of the differences between rows (k, n, 1, ...) and columns (k, 1, m, ...)."""
    sums = np.zeros(np.broadcast_shapes(rows.shape[1:], columns.shape[1:]), rows.dtype)
    gaps = np.empty_like(sums)
    exponent = rows.dtype.type(p)
    for row, column in zip(rows, columns, strict=True):
        np.subtract(row, column, gaps)
        if p == 0:
            sums += gaps != 0
        elif p == 2:
            sums += np.multiply(gaps, gaps, gaps)
        elif p == inf:
            np.maximum(sums, np.abs(gaps, gaps), out=sums)
        elif p == 1:
            sums += np.abs(gaps, gaps)
        else:
            sums += np.power(np.abs(gaps, gaps), exponent, gaps)
    if p in (0, 1, inf):
        return sums
    return np.sqrt(sums, sums) if p == 2 else np.power(sums, 1 / exponent, sums)


@fast(plain.pulled, when="always", benchmark="fast: cdist, backward, 300 by 300 rows of 16", exact=8.0)
def pulled(left: Array, right: Array, p: float, weights: Array, distances: Array) -> Array:
    """See Note [One coordinate after another]."""
    if not left.size or not right.size:
        return plain.pulled.plain(left, right, p, weights, distances)
    batch, (rows, others), width = weights.shape[:-2], weights.shape[-2:], left.shape[-1]
    left, right = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (left, right))
    distances = np.broadcast_to(distances, weights.shape)
    gradient = np.empty(left.shape, left.dtype)
    if is_small(rows * others):
        for some in blocks(prod(batch), rows * others):
            ours, theirs = coordinates_first(left, right, some)
            parts = (batch_last(x, some) for x in (weights, distances))
            gradient.reshape(-1, rows, width)[some] = pulled_in_block(ours, theirs, p, *parts).transpose(2, 1, 0)
    else:
        for index in np.ndindex(*batch):
            ours, theirs = left[index].T[:, :, None], np.ascontiguousarray(right[index].T)[:, None]
            for some in blocks(rows, others):
                parts = (x[index][some] for x in (weights, distances))
                gradient[index][some] = pulled_in_block(ours[:, some], theirs, p, *parts).T
    return gradient


def pulled_in_block(rows: Array, columns: Array, p: float, weights: Array, distances: Array) -> Any:
    """The gradient (k, n, ...) of the rows, summed over their differences from all columns.

    Rows (k, n, 1, ...) and columns (k, 1, m, ...); the weights and distances are of sizes (n, m, ...).
    """
    power = weights.dtype.type(p - 1)
    if p not in (0, 1, inf):
        weights = np.where(distances == 0, 0, weights / distances**power)
    gradient = np.zeros((*rows.shape[:2], *weights.shape[2:]), rows.dtype)
    for found, row, column in zip(gradient, rows, columns, strict=True):
        gaps = row - column
        if p == 2:
            total(np.multiply(gaps, weights, gaps), 1, out=found)
        elif p == inf:
            total(np.where(np.abs(gaps) == distances, np.sign(gaps) * weights, 0), 1, out=found)
        elif p == 1:
            total(np.sign(gaps) * weights, 1, out=found)
        elif p != 0:
            parts = np.abs(gaps) ** power
            if p < 1:
                parts[gaps == 0] = 0
            total(parts * np.sign(gaps) * weights, 1, out=found)
    return gradient
