"""What do the operators of the family transformations compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.samples import Row, call, index, row, t

Array = np.ndarray[Any, Any]


def fill_diagonal(x: Array, value: float, wrap: bool = False) -> Array:
    found = x.copy()
    np.fill_diagonal(found, value, wrap)
    return found


def diag_embed(x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    matrices = [np.diag(v, offset) for v in x.reshape(-1, x.shape[-1])]
    stacked = np.array(matrices, x.dtype).reshape(*x.shape[:-1], *[x.shape[-1] + abs(offset)] * 2)
    return np.moveaxis(stacked, (-2, -1), (dim1, dim2))


SQUARES = (call(t(3, 3)), call(t(2, 3, 4)), call(t(3, 4), 1), call(t(4, 3), -1), call(t(3, 3), 9), call(t(3, 3), -9),
           call(t(3, 2, layout="transposed")), call(t(0, 3)))  # fmt: skip


def repeated(x: Array, repeats: Any, dim: int | None = None, output_size: int | None = None) -> Array:
    return np.repeat(x, repeats, axis=dim)


ROWS: tuple[Row, ...] = (
    # Turned, repeated
    row("fliplr", np.fliplr, call(t(2, 3)), call(t(2, 3, 2))),
    row("flipud", np.flipud, call(t(2, 3)), call(t(3))),
    row("rot90", lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims), call(t(2, 3)), call(t(2, 3), 2), call(t(2, 3), -1),
        call(t(2, 3), 4), call(t(2, 3, 2), 1, [2, 0]), call(t(3, 2, layout="transposed"), 3)),
    row("repeat", np.tile, call(t(2, 3), [2, 2]), call(t(2), [3, 1, 2]), call(t(), [2]), call(t(2, 3), [1, 0]),
        call(t(3, 2, layout="transposed"), [1, 3]), call(t(), [])),
    row("tile", np.tile, call(t(2, 3), [2]), call(t(2), [3, 2]), call(t(2, 1, 2), [2, 2])),
    row("tril", np.tril, *SQUARES),
    row("triu", np.triu, *SQUARES),
    row("diag", np.diag, call(t(3)), call(t(2), -1), call(t(3, 4)), call(t(3, 4), 2),
        call(t(3, 2, layout="transposed"))),
    row("diag_embed", diag_embed, call(t(2, 3)), call(t(3), 1), call(t(2, 2), -1, 0, 2), call(t(2, 3, 2))),
    row("fill_diagonal_", fill_diagonal, call(t(3, 3), 2), call(t(2, 3), -1), call(t(3, 2), 2, True),
        call(t(3, 3, 3), 2), call(t(4, 2, layout="transposed"), 1)),
    row("diagflat", np.diagflat, call(t(2, 2)), call(t(2), -1), call(t(), 1), call(t(3, 2, layout="transposed"))),
    row("repeat_interleave.Tensor", lambda x: np.repeat(np.arange(x.size), x), call(index(4, below=3)),
        dtypes=("int64",), differentiable=False, meta=False),
    row("repeat_interleave.self_Tensor", repeated, call(t(2, 3), index(3, below=3), 1), call(t(3), index(3, below=3)),
        meta=False, cuda=False),
    row("repeat_interleave.self_int", repeated, call(t(2, 3), 2), call(t(2, 3), 3, 0), call(t(), 2),
        call(t(2, 3), 0, 1)),
    row("flip", lambda x, dims: np.flip(x, dims) if x.ndim else x, call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1]),
        call(t(3, 2, layout="transposed"), [1]), call(t(2, 3, layout="expanded"), [0]), call(t(0, 3), [1]),
        call(t(2, 3), []), call(t(), [0])),
    row("roll", lambda x, shifts, dims=(): np.roll(x, shifts, dims or None), call(t(2, 3), [1]),
        call(t(2, 3), [-4], [1]), call(t(2, 3), [1, 2], [0, -1]), call(t(3, 2, layout="transposed"), [1], [0]),
        call(t(0, 3), [1], [0]), call(t(), [1]), call(t(2, 3), [1, 1], [0, 0])),
)  # fmt: skip
