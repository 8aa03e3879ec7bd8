"""What do the operators of the family joining compute?"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from tests.agreement.rows.shared import FLOATS_AND_INTEGERS
from tests.agreement.samples import PROMOTED, Row, call, row, t

Array = np.ndarray[Any, Any]


def chunk_cat(arrays: list[Array], dim: int, num_chunks: int) -> Array:
    parts = []
    for array in arrays:
        missing = -array.shape[dim] % num_chunks
        padded = np.concatenate(
            [array, np.zeros_like(array, shape=(*array.shape[:dim], missing, *array.shape[dim + 1 :]))], dim
        )
        parts.append(padded.reshape((*array.shape[:dim], num_chunks, -1)))
    return np.concatenate(parts, dim + 1)


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


PAIR = ([t(2, 3), t(2, 3)],), ([t(2), t(3)],), ([t(), t()],), ([t(2, 1, 2), t(2, 3, 2)],)


ROWS: tuple[Row, ...] = (
    row("hstack", np.hstack, *(call(*args) for args in PAIR)),
    row("vstack", np.vstack, call([t(2, 3), t(1, 3)]), call([t(3), t(2, 3)]), call([t(), t()])),
    row("dstack", np.dstack, call([t(2, 3), t(2, 3)]), call([t(3), t(1, 3)]), call([t(), t()])),
    row("column_stack", np.column_stack, call([t(3), t(3, 2)]), call([t(), t()]), call([t(2, 2), t(2, 1)])),
    row("block_diag", block_diag, call([t(2, 3), t(1, 1)]), call([t(2), t(), t(1, 2)]),
        call([t(2), t(2, 2, dtype="float64")], dtypes=("float32", "int64")), result=PROMOTED),
    row("_chunk_cat", chunk_cat, call([t(4, 2), t(3, 2), t(1)], 0, 2), call([t(2, 5, 3), t(2, 2)], 1, 3),
        differentiable=False),
    # Grids
    row("meshgrid.indexing", grids, call([t(2), t(3), t(2)], indexing="xy"), call([t(2), t(3)], indexing="ij"),
        call([t(2)], indexing="xy"), call([t(), t(2)], indexing="ij")),
    row("cartesian_prod", lambda xs: np.array(list(product(*xs))) if len(xs) > 1 else xs[0], call([t(2), t(3)]),
        call([t(2)]), call([t(2), t(1), t(2)])),
    row("combinations", chosen, call(t(4)), call(t(3), 3), call(t(3), 2, True), call(t(3), 1), call(t(1)),
        meta=False, cuda=False),
    # Joining, indexing
    row("cat", lambda xs, dim=0: np.concatenate(xs, dim), call([t(2, 3), t(1, 3)]), call([t(2, 3), t(2, 1)], 1),
        call([t(2), t(0)]), call([t(2), t(2, dtype="float64")], dtypes=FLOATS_AND_INTEGERS), result=PROMOTED),
    row("stack", lambda xs, dim=0: np.stack(xs, dim), call([t(2, 3), t(2, 3)]), call([t(2), t(2)], -1)),
)  # fmt: skip
