"""What do products of matrices, vectors and tensors compute, and what the norms and distances made of them?"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, NUMBERS, PROMOTED, Row, call, row, t

Array = np.ndarray[Any, Any]
SINGLE_AND_DOUBLE = ("float32", "float64")


def added(multiply: Any) -> Any:
    """`beta` times the first plus `alpha` times a product of the others."""

    def scaled(x: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
        return np.asarray(beta * x + alpha * multiply(a, b))

    return scaled


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


def norm(x: Array, ord: Any = None, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    axis = None if dim is None else tuple(dim) if len(dim) == 2 else dim[0]
    return np.asarray(np.linalg.norm(x, ord, axis, keepdim))


def logdet(x: Array) -> Array:
    sign, logarithm = np.linalg.slogdet(x)
    return np.where(sign < 0, np.nan, logarithm)


def inverse(x: Array, ind: int = 2) -> Array:
    return np.linalg.tensorinv(x, ind)


def powers(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    return np.vander(x, N, increasing)


ROWS: tuple[Row, ...] = (
    row(
        "addmv",
        added(np.matmul),
        call(t(2), t(2, 3), t(3)),
        call(t(), t(2, 3), t(3), alpha=2),
        call(t(1), t(2, 3), t(3)),
        call(t(3), t(3, 2, layout="transposed"), t(2), beta=0),
        call(t(2), t(2, 0), t(0), beta=3),
        dtypes=NUMBERS,
        tolerance=4,
    ),
    row(
        "addr",
        added(np.outer),
        call(t(2, 3), t(2), t(3)),
        call(t(3), t(2), t(3), beta=2, alpha=3),
        call(t(), t(0), t(3)),
        call(t(2, 3), t(2), t(3), beta=0),
        dtypes=NUMBERS,
        result=PROMOTED,
        tolerance=4,
    ),
    row(
        "baddbmm",
        added(np.matmul),
        call(t(2, 2, 2), t(2, 2, 3), t(2, 3, 2)),
        call(t(2), t(2, 2, 3), t(2, 3, 2), beta=2),
        call(t(), t(1, 2, 3), t(1, 3, 2), alpha=2),
        call(t(2, 2, 2), t(2, 2, 0), t(2, 0, 2), beta=0),
        dtypes=NUMBERS,
        tolerance=8,
    ),
    row(
        "addbmm",
        added(lambda a, b: (a @ b).sum(0)),
        call(t(2, 2), t(2, 2, 3), t(2, 3, 2)),
        call(t(2), t(2, 2, 3), t(2, 3, 2), beta=2, alpha=3),
        call(t(2, 2), t(0, 2, 3), t(0, 3, 2)),
        dtypes=NUMBERS,
        tolerance=32,
    ),
    row(
        "vdot",
        np.vdot,
        call(t(3), t(3)),
        call(t(0), t(0)),
        call(t(3, layout="stepped"), t(3)),
        dtypes=NUMBERS,
        tolerance=4,
    ),
    row(
        "kron",
        np.kron,
        call(t(2, 3), t(3, 2)),
        call(t(2), t(2, 2)),
        call(t(), t(2)),
        call(t(0, 2), t(2, 2)),
        dtypes=NUMBERS,
        result=PROMOTED,
    ),
    row(
        "einsum",
        lambda equation, tensors, path=None: np.asarray(np.einsum(equation, *tensors)),
        call("ij,jk->ik", [t(2, 3), t(3, 2)]),
        call("...ij,...jk", [t(2, 1, 2, 3), t(2, 3, 2)]),
        call("ii->i", [t(3, 3)]),
        call("ij->", [t(2, 3)]),
        call("i,j", [t(2), t(3)]),
        call("ij,j,k->ik", [t(2, 3), t(3), t(2)]),
        call("ab,cb,db->acd", [t(2, 3), t(2, 3), t(2, 3)], path=[1, 2, 0, 1]),
        call("iij,j->i", [t(2, 2, 3), t(3)]),
        call("ij,jk->ki", [t(2, 0), t(0, 3)]),
        dtypes=(*FLOATS, "int64"),
        tolerance=32,
    ),
    row(
        "chain_matmul",
        lambda matrices: np.linalg.multi_dot(matrices) if len(matrices) > 1 else matrices[0],
        call([t(2, 3)]),
        call([t(2, 3), t(3, 2)]),
        call([t(2, 3), t(3, 1), t(1, 2)]),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
    ),
    row(
        "linalg_multi_dot",
        lambda tensors: np.asarray(np.linalg.multi_dot(tensors)),
        call([t(2, 3), t(3, 2)]),
        call([t(3), t(3, 2), t(2)]),
        call([t(3, 1), t(1, 3), t(3, 2), t(2, 2)]),
        call([t(2, 3), t(3, 1), t(1)]),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
    ),
    row(
        "vander",
        powers,
        call(t(3)),
        call(t(2), 3, True),
        call(t(2, grad=False), 0),
        call(t(0), 2),
        call(t(2, grad=False), 1),
        dtypes=(*SINGLE_AND_DOUBLE, "int64"),
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_vander",
        lambda x, N=None: np.stack([np.vander(y, N, True) for y in x.reshape(-1, x.shape[-1])]).reshape(
            *x.shape, N or x.shape[-1]
        ),
        call(t(3)),
        call(t(2, 3)),
        call(t(2, 2), N=4),
        dtypes=(*SINGLE_AND_DOUBLE, "int64"),
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_tensorinv",
        inverse,
        call(t(2, 2, 4)),
        call(t(4, 2, 2), 1),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=200,
        meta=False,
        cuda=False,
    ),
    row(
        "linalg_tensorsolve",
        lambda x, y, dims=None: np.linalg.tensorsolve(x, y, dims),
        call(t(2, 2, 4), t(2, 2)),
        call(t(2, 3, 6), t(2, 3)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=200,
        cuda=False,
    ),
    row(
        "logdet",
        logdet,
        call(t(1, 1, low=1)),
        call(t(2, 1, 1, low=1)),
        call(t(0, 0)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        cuda=False,
    ),
    row(
        "pinverse",
        lambda x, rcond=1e-15: np.linalg.pinv(x, rcond),
        call(t(2, 3)),
        call(t(3, 2), 1e-6),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        cuda=False,
    ),
    # Norms and condition numbers
    row(
        "linalg_norm",
        norm,
        call(t(2, 3)),
        call(t(3), 3),
        call(t(2, 3), 1),
        call(t(2, 3), inf, [0]),
        call(t(2, 2, 3), -1, [0, 2], True),
        call(t(2, 3), 2),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_norm.ord_str",
        norm,
        call(t(2, 3), "fro"),
        call(t(2, 3), "nuc"),
        call(t(2, 2, 3), "fro", [0, 1], True),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_cond",
        lambda x, p=None: np.asarray(np.linalg.cond(x, p)),
        call(t(3, 3)),
        call(t(2, 3), -2),
        call(t(2, 2, 2), 1),
        call(t(3, 3), inf),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        meta=False,
        cuda=False,
    ),
    row(
        "linalg_cond.p_str",
        lambda x, p: np.asarray(np.linalg.cond(x, p)),
        call(t(3, 3), "fro"),
        call(t(2, 2, 2), "nuc"),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        meta=False,
        cuda=False,
    ),
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
)
