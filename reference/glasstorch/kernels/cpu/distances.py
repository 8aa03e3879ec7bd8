"""How are the distances between the rows of two matrices computed on the CPU?

Mirrors: aten/src/ATen/native/Distance.cpp (_cdist_forward, _cdist_backward), cpu/DistanceOpsKernel.cpp
Differs: a few rows at a time are compared with all others, coordinate by coordinate, so that NumPy has long loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import BLOCK
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import distances as shapes

CPU = KernelTable("CPU")
total: Callable[..., Any] = np.add.reduce


def cdist_forward(
    keys: int, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None, out: Tensor | None = None
) -> Tensor:
    """The norm of order `p` of the difference of each row of `x1` and each of `x2`."""
    shape, dtype, *_ = shapes.cdist_forward(x1, x2, p, compute_mode)
    distances = np.zeros(shape, dtype.numpy) if out is None else out.array()
    if 0 in shape or not x1._shape[-1]:
        distances[...] = 0
    else:
        batch = shape[:-2]
        left, right = (np.broadcast_to(x.array(), (*batch, *x._shape[-2:])) for x in (x1, x2))
        for index in np.ndindex(*batch):
            columns = np.ascontiguousarray(right[index].T)
            for rows in some_rows(left.shape[-2], columns.shape[1]):
                distances[index][rows] = quietly(lengths, left[index][rows], columns, p)
    return wrap(distances, dtype) if out is None else out


def some_rows(rows: int, elements_each: int) -> Iterator[slice]:
    """All rows, as many at a time as fit into the cache."""
    step = max(1, BLOCK // max(1, elements_each))
    for start in range(0, rows, step):
        yield slice(start, start + step)


def lengths(rows: Array, columns: Array, p: float) -> Any:
    """The norms of order `p` of the differences of rows (n, k) and columns (k, m): one coordinate after another.

    So the loops run along the columns, which follow each other in memory.
    """
    sums = np.zeros((rows.shape[0], columns.shape[1]), rows.dtype)
    gaps = np.empty_like(sums)
    exponent = rows.dtype.type(p)
    for k in range(columns.shape[0]):
        np.subtract(rows[:, k, None], columns[k], gaps)
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
    """The gradient of `x1`; no row moves another at the distance 0 from it."""
    shape, dtype, *_ = shapes.cdist_backward(grad, x1, x2, p, cdist)
    gradient = np.zeros(shape, dtype.numpy) if out is None else out.array()
    batch = shape[:-2]
    left, right = (np.broadcast_to(x.array(), (*batch, *x._shape[-2:])) for x in (x1, x2))
    weights, distances = grad.array(), cdist.array()
    for index in np.ndindex(*batch):
        for rows in some_rows(left.shape[-2], prod(right.shape[-2:])):
            gaps = left[index][rows, None, :] - right[index]
            parts = weights[index][rows, :, None], distances[index][rows, :, None]
            gradient[index][rows] = quietly(pulled, gaps, p, *parts)
    return wrap(gradient, dtype) if out is None else out


def pulled(gaps: Array, p: float, weights: Array, distances: Array) -> Any:
    """How much each gap adds to the gradient of its row, over all rows of the other matrix."""
    signs = np.sign(gaps)
    if p == 0:
        return 0
    if p == 1:
        return total(signs * weights, 1)
    if p == inf:
        return total(np.where(np.abs(gaps) == distances, signs * weights, 0), 1)
    power = np.abs(gaps) ** gaps.dtype.type(p - 1) / distances ** gaps.dtype.type(p - 1)
    flat = (distances == 0) | ((gaps == 0) & (p < 1))
    return total(np.where(flat, 0, signs * power * weights), 1)


structured(CPU, "_cdist_forward", cdist_forward)
structured(CPU, "_cdist_backward", cdist_backward)
