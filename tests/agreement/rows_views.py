"""What do operators show that NumPy calls otherwise, that cut a tensor into pieces, or that copy what a view shows?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.agreement.samples import Dtype as D
from tests.agreement.samples import Row, T, always, call, row, t

Array = np.ndarray[Any, Any]


def cut(x: Array, sizes: Sequence[int], dim: int = 0) -> list[Array]:
    """Consecutive pieces of the given sizes."""
    return np.split(x, np.cumsum(sizes)[:-1], dim)


def pieces(x: Array, size: int, dim: int = 0) -> list[Array]:
    """Pieces of one size; the last may be smaller."""
    return np.split(x, range(size, x.shape[dim], size), axis=dim)


def chunks(x: Array, count: int, dim: int = 0) -> list[Array]:
    return pieces(x, -(-x.shape[dim] // count), dim)


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> Array:
    flat = x.reshape(-1)
    return np.array([flat[offset + np.dot(i, stride)] for i in np.ndindex(*size)]).reshape(size)


def unflatten(x: Array, dim: int, sizes: Sequence[int]) -> Array:
    dim %= x.ndim
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])


def sliced(x: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Array:
    return np.moveaxis(np.moveaxis(x, dim, 0)[start:end:step], 0, dim)


def narrowed(x: Array, dim: int, start: int, length: int) -> Array:
    return np.take(x, range(start, start + length), dim)


def windows(x: Array, dimension: int, size: int, step: int) -> Array:
    found = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return np.take(found, range(0, found.shape[dimension], step), axis=dimension)


def sum_to_size(x: Array, size: Sequence[int]) -> Array:
    leading = x.ndim - len(size)
    dims = [d for d in range(x.ndim) if d < leading or (size[d - leading] == 1 and x.shape[d] != 1)]
    return x.sum(tuple(dims), keepdims=True).reshape(size)


def placed(x: Array, where: Any, values: Array) -> Array:
    """A copy with other elements at some places."""
    result = x.copy()
    result[where] = values
    return result


def slice_scatter(
    x: Array, y: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    return placed(x, (slice(None),) * dim + (slice(start, end, step),), y)


def diagonal_scatter(x: Array, y: Array, offset: int = 0) -> Array:
    rows = np.arange(len(y)) + max(-offset, 0)
    return placed(x, (rows, rows + offset), y)


def as_strided_scatter(x: Array, y: Array, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> Array:
    result = x.copy()
    for i in np.ndindex(*size):
        result.reshape(-1)[offset + np.dot(i, stride)] = y[i]
    return result


def squeezed(x: Array, dims: int | Sequence[int]) -> Array:
    wanted = (dims,) if isinstance(dims, int) else dims
    return np.squeeze(x, tuple(d for d in wanted if x.shape[d] == 1))


def each(function: Callable[..., Array]) -> Callable[..., list[Array]]:
    return lambda tensors: [function(x) for x in tensors]


def same(x: Array) -> Array:
    return x


def swapped(x: Array) -> Array:
    return np.swapaxes(x, -1, -2) if x.ndim else x


TRANSPOSED = t(3, 2, layout="transposed")
STEPPED = t(2, 4, layout="stepped")
SUMS = ("float32", "float64", "int64")
ANY: tuple[T, ...] = (t(2, 3), t(), t(0, 2), TRANSPOSED, STEPPED)

ROWS: tuple[Row, ...] = (
    # Other names
    row("broadcast_to", np.broadcast_to, call(t(2, 1), [2, 3]), call(t(3), [2, 3])),
    row("adjoint", swapped, call(t(2, 3)), call(t(2, 2, 3))),
    row("mH", swapped, call(t(2, 3)), call(t(2, 2, 3))),
    row("matrix_H", swapped, call(t(2, 3)), call(TRANSPOSED)),
    # Other shapes
    row("ravel", np.ravel, call(t(2, 3)), call(TRANSPOSED), call(t()), call(STEPPED)),
    row("unflatten.int", unflatten, call(t(6, 2), 0, [2, -1]), call(TRANSPOSED, 1, [2, 1]), call(t(0, 4), -1, [2, 2])),
    row("atleast_1d", np.atleast_1d, call(t()), call(t(2))),
    row("atleast_2d", np.atleast_2d, call(t()), call(t(2)), call(t(2, 3))),
    row("atleast_3d", np.atleast_3d, call(t()), call(t(2)), call(t(2, 3)), call(t(2, 3, 1))),
    row("atleast_1d.Sequence", each(np.atleast_1d), call([t(), t(2)])),
    row("atleast_2d.Sequence", each(np.atleast_2d), call([t(2), t(2, 3)])),
    row("atleast_3d.Sequence", each(np.atleast_3d), call([t(2), t(2, 3)])),
    row("broadcast_tensors", lambda tensors: np.broadcast_arrays(*tensors), call([t(2, 1), t(3)]),
        call([t(2, 3), t(2, 3)])),
    row("sum_to_size", sum_to_size, call(t(2, 3), [1, 3]), call(t(4, 2, 3), [2, 1]), call(t(2, 3), [2, 3]),
        dtypes=SUMS),
    # Pieces
    row("split_with_sizes", cut, call(t(5, 2), [1, 3, 1]), call(t(2, 4), [0, 4], 1)),
    row("tensor_split.sections", np.array_split, call(t(5, 2), 3), call(t(2, 4), 2, 1), call(t(2), 3)),
    row("tensor_split.indices", np.array_split, call(t(5, 2), [1, 4]), call(t(2, 4), [2], 1)),
    row("hsplit.int", np.hsplit, call(t(2, 4), 2), call(t(4), 2)),
    row("hsplit.array", np.hsplit, call(t(2, 4), [1, 3])),
    row("vsplit.int", np.vsplit, call(t(4, 2), 2)),
    row("vsplit.array", np.vsplit, call(t(4, 2), [1])),
    row("dsplit.int", np.dsplit, call(t(2, 2, 4), 2)),
    row("dsplit.array", np.dsplit, call(t(2, 2, 4), [1])),
    row("unsafe_chunk", chunks, call(t(5, 2), 2), call(t(2, 4), 2, 1)),
    row("unsafe_split.Tensor", pieces, call(t(5, 2), 2), call(t(2, 4), 2, 1)),
    row("unsafe_split_with_sizes", cut, call(t(5, 2), [1, 3, 1]), call(t(2, 4), [1, 3], 1)),
    # Views as copies
    row("alias_copy", same, *(call(x) for x in ANY)),
    row("detach_copy", same, *(call(x) for x in ANY), differentiable=False),
    row("_neg_view_copy", np.negative, *(call(x) for x in ANY), dtypes=SUMS),
    row("_reshape_alias_copy", lambda x, size, stride: x.reshape(size), call(t(2, 3), [3, 2], [2, 1])),
    row("as_strided_copy", as_strided, call(t(6), [2, 2], [3, 1]), call(t(6), [2, 3], [1, 1], 1)),
    row("diagonal_copy", np.diagonal, call(t(3, 3)), call(t(3, 4), 1), call(t(2, 3, 4), -1, 0, 2)),
    row("expand_copy", lambda x, size: np.broadcast_to(x, size), call(t(2, 1), [2, 3]), call(t(3), [2, 3])),
    row("permute_copy", np.transpose, call(t(2, 3, 4), [2, 0, 1]), call(t(2, 3), [1, 0])),
    row("select_copy.int", lambda x, dim, i: np.take(x, i, dim), call(t(2, 3), 1, 2), call(t(2, 3), 0, -1)),
    row("slice_copy.Tensor", sliced, call(t(4, 3), 0, 1, 3), call(t(4, 3), 1, None, None, 2)),
    row("squeeze_copy", np.squeeze, call(t(1, 2, 1)), call(t(2))),
    row("squeeze_copy.dim", squeezed, call(t(1, 2), 0), call(t(1, 2), 1)),
    row("squeeze_copy.dims", squeezed, call(t(1, 2, 1), [0, 1, -1])),
    row("t_copy", np.transpose, call(t(2, 3)), call(t(3))),
    row("transpose_copy.int", np.swapaxes, call(t(2, 3), 0, 1), call(t(2, 3, 4), -1, 0)),
    row("unfold_copy", windows, call(t(5), 0, 2, 1), call(t(2, 5), 1, 3, 2)),
    row("unsqueeze_copy", np.expand_dims, call(t(2, 3), 1), call(t(2), -1)),
    row("view_copy", np.reshape, call(t(2, 3), [3, -1]), call(TRANSPOSED, [6])),
    row("view_copy.dtype", lambda x, dtype: x.view(np.int64), call(t(2, 3), D("int64")), dtypes=("float64",),
        result=always("int64"), differentiable=False),
    row("narrow_copy", narrowed, call(t(4, 3), 0, 1, 2), call(t(4, 3), 1, -2, 1)),
    row("split_copy.Tensor", pieces, call(t(5, 2), 2), call(t(2, 4), 2, 1)),
    row("split_with_sizes_copy", cut, call(t(5, 2), [1, 3, 1])),
    row("unbind_copy.int", lambda x, dim=0: [np.take(x, i, dim) for i in range(x.shape[dim])], call(t(2, 3)),
        call(t(2, 3), 1)),
    # Views with other elements
    row("slice_scatter", slice_scatter, call(t(4, 3), t(2, 3), 0, 1, 3), call(t(3, 4), t(3, 2), 1, None, None, 2),
        call(t(4, 2, layout="transposed"), t(1, 2), 0, -1)),
    row("select_scatter", lambda x, y, dim, i: placed(x, (slice(None),) * dim + (i,), y), call(t(3, 4), t(4), 0, 1),
        call(t(3, 4), t(3), 1, -1)),
    row("diagonal_scatter", diagonal_scatter, call(t(3, 3), t(3)), call(t(3, 4), t(2), -1)),
    row("as_strided_scatter", as_strided_scatter, call(t(3, 4), t(2, 2), [2, 2], [1, 4]),
        call(t(6), t(2), [2], [3], 1)),
    # Bits, and the parts of complex numbers, of which real ones have one
    row("view.dtype", lambda x, dtype: x.view(np.int64), call(t(2, 3), D("int64")), dtypes=("float64",),
        result=always("int64"), differentiable=False),
    row("_neg_view", np.negative, *(call(x) for x in ANY), dtypes=SUMS),
    row("is_conj", lambda x: False, call(t(2, 3)), differentiable=False, meta=False),
    row("is_neg", lambda x: False, call(t(2, 3)), differentiable=False, meta=False),
    row("resolve_neg", same, *(call(x) for x in ANY)),
    row("resolve_conj", same, *(call(x) for x in ANY)),
    row("conj", same, *(call(x) for x in ANY)),
    row("conj_physical", same, *(call(x) for x in ANY)),
    row("real", same, *(call(x) for x in ANY)),
)  # fmt: skip
