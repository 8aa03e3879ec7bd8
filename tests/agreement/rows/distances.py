"""What do the operators of the family distances compute?"""

from __future__ import annotations

import math
from math import inf
from typing import Any

import numpy as np

from tests.agreement.rows.shared import SINGLE_AND_DOUBLE
from tests.agreement.samples import Row, call, row, t

Array = np.ndarray[Any, Any]


def distances(x: Array, y: Array, p: float = 2, mode: int | None = None) -> Array:
    gaps = np.abs(x[..., :, None, :] - y[..., None, :, :])
    if p == inf:
        return gaps.max(-1)
    return (gaps != 0).sum(-1).astype(x.dtype) if p == 0 else (gaps**p).sum(-1) ** (1 / p)


def distances_backward(grad: Array, x: Array, y: Array, p: float, distance: Array) -> Array:
    gaps = x[..., :, None, :] - y[..., None, :, :]
    weights = grad[..., None] * np.abs(gaps) ** (p - 1) / distance[..., None] ** (p - 1)
    return (np.sign(gaps) * weights).sum(-2)


def pairs(x: Array, p: float = 2) -> Array:
    return distances(x, x, p)[np.triu_indices(len(x), 1)]


def pairs_backward(grad: Array, x: Array, p: float, distance: Array) -> Array:
    found = np.zeros_like(x)
    for pull, far, i, j in zip(grad, distance, *np.triu_indices(len(x), 1), strict=True):
        gap = x[i] - x[j]
        moved = pull * np.sign(gap) * np.abs(gap) ** (p - 1) / far ** (p - 1)
        found[i] += moved
        found[j] -= moved
    return found


def cosine(x: Array, y: Array, dim: int = 1, eps: float = 1e-8) -> Any:
    lengths = (np.maximum(np.linalg.norm(a, axis=dim), eps) for a in (x, y))
    return (x * y).sum(dim) / math.prod(lengths)


ROWS: tuple[Row, ...] = (
    # Distances
    row(
        "cdist",
        distances,
        call(t(2, 3), t(4, 3)),
        call(t(2, 2, 3), t(4, 3), 1),
        call(t(2, 3), t(2, 3), inf),
        call(t(2, 3), t(2, 3), 3),
        call(t(2, 3, grad=False), t(2, 3, grad=False), 2, 1),
        call(t(2, 3, grad=False), t(0, 3, grad=False)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=64,
        cuda=False,
        twice=False,
    ),
    row(
        "pdist",
        pairs,
        call(t(4, 3)),
        call(t(3, 2, layout="transposed"), 1),
        call(t(3, 2), inf),
        call(t(3, 2), 3),
        call(t(1, 2)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=64,
        cuda=False,
        twice=False,
    ),
    row(
        "_pdist_forward",
        pairs,
        call(t(4, 3)),
        call(t(3, 2), 1),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
        cuda=False,
        twice=False,
    ),
    row(
        "_pdist_backward",
        pairs_backward,
        call(t(3), t(3, 2, grad=False), 2, t(3, low=1, grad=False)),
        call(t(1), t(2, 3, grad=False), 3, t(1, low=1, grad=False)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
        differentiable=False,
        cuda=False,
    ),
    row(
        "pairwise_distance",
        lambda x, y, p=2, eps=1e-6, keepdim=False: np.linalg.norm(x - y + eps, p, -1, keepdim),
        call(t(2, 3), t(2, 3)),
        call(t(2, 3), t(3), 1, 0.1, True),
        call(t(3), t(3), 3),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
        cuda=False,
    ),
    row(
        "cosine_similarity",
        cosine,
        call(t(2, 3), t(2, 3)),
        call(t(2, 3, 2), t(2, 3, 2), -2),
        call(t(3, grad=False), t(3, grad=False), 0, 5.0),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
        cuda=False,
    ),
    row(
        "_euclidean_dist",
        distances,
        call(t(2, 3), t(4, 3)),
        call(t(2, 2, 3), t(2, 4, 3)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=64,
    ),
    row(
        "_cdist_forward",
        distances,
        call(t(2, 3), t(4, 3), 2, None),
        call(t(2, 2, 3), t(4, 3), 1, None),
        call(t(2, 3), t(2, 3), 0, None, dtypes=("float64",)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
        twice=False,
    ),
    row(
        "_cdist_backward",
        distances_backward,
        call(t(2, 4), t(2, 3, grad=False), t(4, 3, grad=False), 2, t(2, 4, low=1, grad=False)),
        call(t(2, 2), t(2, 3, grad=False), t(2, 3, grad=False), 3, t(2, 2, low=1, grad=False)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
        differentiable=False,
    ),
)  # fmt: skip
