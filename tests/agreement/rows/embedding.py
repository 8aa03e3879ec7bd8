"""What do the operators of the family embedding compute?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, LONG, SAME, Row, call, index, row, t

Array = np.ndarray[Any, Any]


def table_gradient(grad: Array, indices: Array, rows: int, padding: int, by_frequency: bool) -> Array:
    table = np.zeros((rows, grad.shape[-1]))
    for i in np.ndindex(*indices.shape):
        if indices[i] != padding:
            table[indices[i]] += grad[i] / ((indices == indices[i]).sum() if by_frequency else 1)
    return table


def renormed(table: Array, indices: Array, longest: float, p: float) -> Array:
    result = table.copy()
    for i in set(indices.ravel().tolist()):
        length = np.linalg.norm(table[i], p)
        if length > longest:
            result[i] *= longest / (length + 1e-7)
    return result


def bags(
    table: Array, indices: Array, offsets: Array, _: bool, mode: int, __: bool, weights: Any, last: bool, padding: Any
) -> tuple[Array, ...]:
    begins = offsets.tolist() if last else [*offsets.tolist(), indices.size]
    number = np.zeros(indices.size, np.int64)
    results, sizes, chosen = [], [], []
    for bag, (begin, end) in enumerate(pairwise(begins)):
        number[begin:end] = bag
        kept = [i for i in range(begin, end) if indices[i] != padding]
        rows = table[indices[kept]] * (1 if weights is None else weights[kept][:, None])
        sizes.append(len(kept))
        most = rows.argmax(0) if kept else None
        chosen.append(np.full(table.shape[1], -1) if most is None else indices[kept][most])
        if not kept:
            results.append(np.zeros(table.shape[1]))
        else:
            results.append([rows.sum(0), rows.mean(0), rows.max(0)][mode])
    third = np.array(chosen) if mode == 2 else np.array(sizes)
    return np.array(results), number, np.array(sizes), third


def bag_gradient(
    grad: Array,
    indices: Array,
    number: Array,
    sizes: Array,
    most: Array,
    rows: int,
    by_frequency: bool,
    mode: int,
    weights: Any,
    padding: int,
) -> Array:
    scaled = grad[number]
    if mode == 1:
        scaled = scaled / sizes[number][:, None]
    if weights is not None:
        scaled = scaled * weights[:, None]
    return table_gradient(scaled, indices, rows, padding, by_frequency)


def weight_gradient(grad: Array, table: Array, indices: Array, _: Any, number: Array, __: int, padding: int) -> Array:
    return (grad[number] * table[indices]).sum(1) * (indices != padding)


TABLE, SIX = t(5, 3), index(6, below=5)
OFFSETS = t(2, low=0, high=0, dtype="int64", grad=False)
SORTED = t(6, low=1, high=1, dtype="int64", grad=False)


ROWS: tuple[Row, ...] = (
    row("embedding", lambda table, indices, *_: table[indices], call(TABLE, index(2, 4, below=5)),
        call(t(5, 3, grad=False), SIX, 2, False), dtypes=FLOATS),
    row("embedding_dense_backward", table_gradient, call(t(2, 4, 3), index(2, 4, below=5), 5, -1, False),
        call(t(6, 3), SIX, 5, 1, False), dtypes=FLOATS, tolerance=2),
    row("embedding_backward", lambda *a: table_gradient(*a[:5]), call(t(6, 3), SIX, 5, 1, False, False), dtypes=FLOATS,
        cuda=False, tolerance=2),
    row("embedding_renorm", renormed, call(t(5, 3, grad=False), SIX, 1.0, 2.0), dtypes=("float32", "float64"),
        differentiable=False),
    row("embedding_bag", lambda *a: bags(*a, -1), call(TABLE, SIX, OFFSETS, False, 0, False, None, False),
        dtypes=("float32", "float64"), result=(SAME, LONG, LONG, LONG), cuda=False, in_torch=False, twice=False),
    row("embedding_bag.padding_idx", bags, call(TABLE, SIX, OFFSETS, False, 1, False, None, False, 2),
        dtypes=("float32", "float64"), result=(SAME, LONG, LONG, LONG), cuda=False, in_torch=False, twice=False),
    row("_embedding_bag", bags, call(TABLE, SIX, OFFSETS, False, 0, False, t(6), False, -1),
        dtypes=("float32", "float64"), result=(SAME, LONG, LONG, LONG), in_torch=False, twice=False),
    row("_embedding_bag_forward_only", bags,
        call(t(5, 3, grad=False), SIX, OFFSETS, False, 2, False, None, False, -1), dtypes=("float32", "float64"),
        result=(SAME, LONG, LONG, LONG), in_torch=False, differentiable=False),
    row("_embedding_bag_dense_backward", bag_gradient,
        call(t(2, 3, grad=False), SIX, SORTED, t(2, low=3, high=3, dtype="int64", grad=False), OFFSETS, 5, False, 1,
            None, -1), dtypes=("float32", "float64"), differentiable=False),
    row("_embedding_bag_per_sample_weights_backward", weight_gradient,
        call(t(2, 3, grad=False), t(5, 3, grad=False), SIX, OFFSETS, SORTED, 0, -1), dtypes=("float32", "float64"),
        differentiable=False),
    row("one_hot", lambda classes, count: np.eye(count, dtype=np.int64)[classes], call(index(2, 3, below=4), 4),
        dtypes=("int64",), result=LONG, cuda=False, differentiable=False),
)  # fmt: skip
