"""How are the distances between the rows of two matrices computed on the CPU?

Mirrors: aten/src/ATen/native/Distance.cpp (_cdist_forward, _cdist_backward), cpu/DistanceOpsKernel.cpp
Differs: a few rows at a time, or many small matrices, are compared coordinate by coordinate, which gives NumPy long
    loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import BLOCK
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import distances as shapes

CPU = KernelTable("CPU")
total: Callable[..., Any] = np.add.reduce
BATCHED_FROM = 16  # matrices per block from which a batch is processed together


def cdist_forward(
    keys: int, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None, out: Tensor | None = None
) -> Tensor:
    """The p-norm of the difference between each row of `x1` and each row of `x2`."""
    shape, dtype, *_ = shapes.cdist_forward(x1, x2, p, compute_mode)
    distances = np.zeros(shape, dtype.numpy)
    if 0 in shape or not x1._shape[-1]:
        return finished(distances, dtype, out)
    batch, (rows, columns) = shape[:-2], shape[-2:]
    left, right = (np.broadcast_to(x.array(), (*batch, *x._shape[-2:])) for x in (x1, x2))
    if is_small(rows * columns):
        for some in blocks(prod(batch), rows * columns):
            ours, theirs = coordinates_first(left, right, some)
            found = quietly(lengths, ours, theirs, p)
            distances.reshape(-1, rows, columns)[some] = found.transpose(2, 0, 1)
    else:
        for index in np.ndindex(*batch):
            ours, theirs = left[index].T[:, :, None], np.ascontiguousarray(right[index].T)[:, None]
            for some in blocks(rows, columns):
                distances[index][some] = quietly(lengths, ours[:, some], theirs, p)
    return finished(distances, dtype, out)


def finished(found: Array, dtype: dtype, out: Tensor | None) -> Tensor:
    """The result, written to `out` if given."""
    if out is None:
        return wrap(found, dtype)
    out.array()[...] = found
    return out


def is_small(elements: int) -> bool:
    """Whether many matrices of this size fit into cache together, and so are processed together."""
    return elements <= BLOCK // BATCHED_FROM


def blocks(count: int, elements_each: int) -> Iterator[slice]:
    """Slices over all rows, or all matrices of a batch, each of which fits into cache."""
    step = max(1, BLOCK // max(1, elements_each))
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


def lengths(rows: Array, columns: Array, p: float) -> Any:
    """The p-norms of the differences between rows (k, n, 1, ...) and columns (k, 1, m, ...).

    Coordinates are added one at a time, so that the loops run along the last dimension, which is contiguous.
    """
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


def cdist_backward(
    keys: int, grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor, out: Tensor | None = None
) -> Tensor:
    """The gradient of `x1`; pairs of rows at distance 0 contribute nothing."""
    shape, dtype, *_ = shapes.cdist_backward(grad, x1, x2, p, cdist)
    gradient = np.zeros(shape, dtype.numpy)
    if 0 in shape or not x2._shape[-2]:
        return finished(gradient, dtype, out)
    batch, (rows, width), others = shape[:-2], shape[-2:], x2._shape[-2]
    left, right = (np.broadcast_to(x.array(), (*batch, *x._shape[-2:])) for x in (x1, x2))
    weights, distances = (np.broadcast_to(x.array(), (*batch, rows, others)) for x in (grad, cdist))
    if is_small(rows * others):
        for some in blocks(prod(batch), rows * others):
            ours, theirs = coordinates_first(left, right, some)
            parts = (batch_last(x, some) for x in (weights, distances))
            gradient.reshape(-1, rows, width)[some] = quietly(pulled, ours, theirs, p, *parts).transpose(2, 1, 0)
    else:
        for index in np.ndindex(*batch):
            ours, theirs = left[index].T[:, :, None], np.ascontiguousarray(right[index].T)[:, None]
            for some in blocks(rows, others):
                parts = (x[index][some] for x in (weights, distances))
                gradient[index][some] = quietly(pulled, ours[:, some], theirs, p, *parts).T
    return finished(gradient, dtype, out)


def pulled(rows: Array, columns: Array, p: float, weights: Array, distances: Array) -> Any:
    """The gradient (k, n, ...) of the rows, summed over their differences from all columns, one coordinate at a time.

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


structured(CPU, "_cdist_forward", cdist_forward)
structured(CPU, "_cdist_backward", cdist_backward)
