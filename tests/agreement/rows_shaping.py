"""What do joined, repeated, turned, padded and cut tensors hold?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from tests.agreement.samples import LONG, PROMOTED, Row, call, mask, row, t

Array = np.ndarray[Any, Any]


def block_diag(matrices: list[Array]) -> Array:
    result = np.zeros(tuple(np.sum([np.atleast_2d(m).shape for m in matrices], 0)))
    top = left = 0
    for matrix in map(np.atleast_2d, matrices):
        result[top : top + matrix.shape[0], left : left + matrix.shape[1]] = matrix
        top, left = top + matrix.shape[0], left + matrix.shape[1]
    return result


def grids(vectors: list[Array], indexing: str = "ij") -> list[Array]:
    return list(np.meshgrid(*vectors, indexing=indexing))


def chosen(x: Array, r: int = 2, with_replacement: bool = False) -> Array:
    ways = (combinations_with_replacement if with_replacement else combinations)(x.tolist(), r)
    return np.array(list(ways), x.dtype).reshape(-1, r)


def fill_diagonal(x: Array, value: float, wrap: bool = False) -> Array:
    found = x.copy()
    np.fill_diagonal(found, value, wrap)
    return found


def diag_embed(x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    matrices = [np.diag(v, offset) for v in x.reshape(-1, x.shape[-1])]
    stacked = np.array(matrices, x.dtype).reshape(*x.shape[:-1], *[x.shape[-1] + abs(offset)] * 2)
    return np.moveaxis(stacked, (-2, -1), (dim1, dim2))


def padded(x: Array, pad: Sequence[int], value: float = 0) -> Array:
    for i in range(len(pad) // 2):
        dim, before, after = x.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        x = np.take(x, range(max(-before, 0), x.shape[dim] - max(-after, 0)), dim)
        borders = [(max(before, 0), max(after, 0)) if d == dim else (0, 0) for d in range(x.ndim)]
        x = np.pad(x, borders, constant_values=value)
    return x


def selected(x: Array, where: Array) -> Array:
    x, where = np.broadcast_arrays(x, where)
    return x[where.astype(bool)]


def filled(x: Array, where: Array, value: Array) -> Array:
    return np.where(where != 0, value, x)


PAIR = ([t(2, 3), t(2, 3)],), ([t(2), t(3)],), ([t(), t()],), ([t(2, 1, 2), t(2, 3, 2)],)
SQUARES = (call(t(3, 3)), call(t(2, 3, 4)), call(t(3, 4), 1), call(t(4, 3), -1), call(t(3, 3), 9), call(t(3, 3), -9),
           call(t(3, 2, layout="transposed")), call(t(0, 3)))  # fmt: skip

ROWS: tuple[Row, ...] = (
    # Joining
    row("hstack", np.hstack, *(call(*args) for args in PAIR)),
    row("vstack", np.vstack, call([t(2, 3), t(1, 3)]), call([t(3), t(2, 3)]), call([t(), t()])),
    row("dstack", np.dstack, call([t(2, 3), t(2, 3)]), call([t(3), t(1, 3)]), call([t(), t()])),
    row("column_stack", np.column_stack, call([t(3), t(3, 2)]), call([t(), t()]), call([t(2, 2), t(2, 1)])),
    row("block_diag", block_diag, call([t(2, 3), t(1, 1)]), call([t(2), t(), t(1, 2)]),
        call([t(2), t(2, 2, dtype="float64")], dtypes=("float32", "int64")), result=PROMOTED),
    # Grids
    row("meshgrid.indexing", grids, call([t(2), t(3), t(2)], indexing="xy"), call([t(2), t(3)], indexing="ij"),
        call([t(2)], indexing="xy"), call([t(), t(2)], indexing="ij")),
    row("cartesian_prod", lambda xs: np.array(list(product(*xs))) if len(xs) > 1 else xs[0], call([t(2), t(3)]),
        call([t(2)]), call([t(2), t(1), t(2)])),
    row("combinations", chosen, call(t(4)), call(t(3), 3), call(t(3), 2, True), call(t(3), 1), call(t(1)),
        meta=False, cuda=False),
    # Turned, repeated
    row("fliplr", np.fliplr, call(t(2, 3)), call(t(2, 3, 2))),
    row("flipud", np.flipud, call(t(2, 3)), call(t(3))),
    row("rot90", lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims), call(t(2, 3)), call(t(2, 3), 2), call(t(2, 3), -1),
        call(t(2, 3), 4), call(t(2, 3, 2), 1, [2, 0]), call(t(3, 2, layout="transposed"), 3)),
    row("repeat", np.tile, call(t(2, 3), [2, 2]), call(t(2), [3, 1, 2]), call(t(), [2]), call(t(2, 3), [1, 0]),
        call(t(3, 2, layout="transposed"), [1, 3]), call(t(), [])),
    row("tile", np.tile, call(t(2, 3), [2]), call(t(2), [3, 2]), call(t(2, 1, 2), [2, 2])),
    # Borders, triangles, diagonals
    row("constant_pad_nd", padded, call(t(2, 3), [1, 2]), call(t(2, 3), [0, 1, 2, 0], 1), call(t(2, 3), [-1, 1]),
        call(t(2, 3), [-1, -1]), call(t(2, 2, 2), [1, 0, 0, -1, 2, 0]), call(t(2, 3), [])),
    row("tril", np.tril, *SQUARES),
    row("triu", np.triu, *SQUARES),
    row("diag", np.diag, call(t(3)), call(t(2), -1), call(t(3, 4)), call(t(3, 4), 2),
        call(t(3, 2, layout="transposed"))),
    row("diag_embed", diag_embed, call(t(2, 3)), call(t(3), 1), call(t(2, 2), -1, 0, 2), call(t(2, 3, 2))),
    row("fill_diagonal_", fill_diagonal, call(t(3, 3), 2), call(t(2, 3), -1), call(t(3, 2), 2, True),
        call(t(3, 3, 3), 2), call(t(4, 2, layout="transposed"), 1)),
    row("diagflat", np.diagflat, call(t(2, 2)), call(t(2), -1), call(t(), 1), call(t(3, 2, layout="transposed"))),
    # Picked
    row("masked_select", selected, call(t(2, 3), mask(2, 3)), call(t(3), mask(2, 3)), call(t(2, 3), mask(3)),
        call(t(3, 2, layout="transposed"), mask(3, 2)), meta=False),
    row("masked_fill.Tensor", filled, call(t(2, 3), mask(2, 3), t()), call(t(2, 3), mask(3), t()),
        call(t(3), mask(2, 3), t()), call(t(3, 2, layout="transposed"), mask(3, 2), t()), meta=False),
    row("argwhere", np.argwhere, call(t(2, 3, low=0, high=1)), call(t()), result=LONG, differentiable=False,
        meta=False),
    row("nonzero_numpy", lambda x: list(np.nonzero(np.atleast_1d(x))), call(t(2, 3, low=0, high=1)), call(t()),
        result=LONG, differentiable=False, meta=False),
)  # fmt: skip
