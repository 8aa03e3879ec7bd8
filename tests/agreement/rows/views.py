"""What do the operators of the family views compute?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.agreement.rows.shared import ANY, ONE, STEPPED, SUMS, TRANSPOSED, same
from tests.agreement.samples import FLOATS, Row, always, call, index, row, t
from tests.agreement.samples import Dtype as D

Array = np.ndarray[Any, Any]


def cut(x: Array, sizes: Sequence[int], dim: int = 0) -> list[Array]:
    """Consecutive pieces of the given sizes."""
    return np.split(x, np.cumsum(sizes)[:-1], dim)


def pieces(x: Array, size: int, dim: int = 0) -> list[Array]:
    """Pieces of one size; the last may be smaller."""
    return np.split(x, range(size, x.shape[dim], size), axis=dim)


def chunks(x: Array, count: int, dim: int = 0) -> list[Array]:
    return pieces(x, -(-x.shape[dim] // count), dim)


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


def swapped(x: Array) -> Array:
    return np.swapaxes(x, -1, -2) if x.ndim else x


def expand(x: Array, size: list[int]) -> Array:
    kept = (0,) * (len(size) - x.ndim) + x.shape
    return np.broadcast_to(x, [old if new == -1 else new for new, old in zip(size, kept, strict=True)])


def unfold(x: Array, dimension: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return np.take(windows, range(0, windows.shape[dimension], step), axis=dimension)


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> Array:
    flat = x.reshape(-1)
    return np.array([flat[(offset or 0) + np.dot(i, stride)] for i in np.ndindex(*size)]).reshape(size)


def zeros_with(shape: Sequence[int], where: Any, grad: Array) -> Array:
    """Zeros with a gradient at some places."""
    result = np.zeros(shape)
    result[where] = grad
    return result


def as_strided_backward(
    grad: Array, in_size: Any, in_stride: Any, in_offset: int, size: Any, stride: Any, offset: int
) -> Array:
    storage = np.zeros(100)
    for i in np.ndindex(*size):
        storage[offset + np.dot(i, stride)] += grad[i]
    return np.array([storage[in_offset + np.dot(i, in_stride)] for i in np.ndindex(*in_size)]).reshape(in_size)


ROWS: tuple[Row, ...] = (
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
    row("lift_fresh_copy", same, *(call(x) for x in ANY)),
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
    # Views
    row("alias", lambda x: x, *ONE),
    row("detach", lambda x: x, *ONE, differentiable=False),
    row("view", np.reshape, call(t(2, 3), [3, -1]), call(t(2, 3), [2, 1, 3]), call(t(2, 0), [0, 5])),
    row("_unsafe_view", np.reshape, call(t(2, 3), [3, 2])),
    row("reshape", np.reshape, call(t(2, 3), [3, 2]), call(t(3, 2, layout="transposed"), [6]), call(t(2, 1), [-1])),
    row("_reshape_alias", lambda x, size, stride: x.reshape(size), call(t(2, 3), [3, 2], [2, 1])),
    row("view_as", lambda x, y: x.reshape(y.shape), call(t(2, 3), t(6, grad=False))),
    row("reshape_as", lambda x, y: x.reshape(y.shape), call(t(3, 2, layout="transposed"), t(6, grad=False))),
    row("flatten.using_ints",
        lambda x, start=0, end=-1: x.reshape(*x.shape[:start], -1, *x.shape[x.ndim + end + 1 :]), call(t(2, 3, 2)),
        call(t(2, 3, 2), 1), call(t(2, 3, 2), 0, -2)),
    row("transpose.int", np.swapaxes, call(t(2, 3), 0, 1), call(t(2, 3, 4), -1, 0), call(t(2, 3), 1, 1)),
    row("t", lambda x: x.T, call(t(2, 3)), call(t(3)), call(t())),
    row("numpy_T", lambda x: x.T, call(t(2, 3))),
    row("mT", lambda x: np.swapaxes(x, -1, -2), call(t(2, 2, 3))),
    row("permute", np.transpose, call(t(2, 3, 4), [2, 0, 1]), call(t(2, 3), [-1, 0])),
    row("movedim.intlist", np.moveaxis, call(t(2, 3, 4), [0, 1], [2, 0])),
    row("movedim.int", np.moveaxis, call(t(2, 3, 4), 0, -1)),
    row("expand", expand, call(t(2, 1), [2, 3]), call(t(3), [2, -1]), call(t(), [2])),
    row("expand_as", lambda x, y: np.broadcast_to(x, y.shape), call(t(2, 1), t(2, 3, grad=False))),
    row("squeeze", np.squeeze, call(t(1, 2, 1)), call(t(2))),
    row("squeeze.dim", lambda x, dim: np.squeeze(x, dim) if x.shape[dim] == 1 else x, call(t(1, 2), 0),
        call(t(1, 2), 1)),
    row("squeeze.dims", lambda x, dims: np.squeeze(x, tuple(d for d in dims if x.shape[d] == 1)),
        call(t(1, 2, 1), [0, 1, -1])),
    row("unsqueeze", np.expand_dims, call(t(2, 3), 1), call(t(2), -1), call(t(), 0)),
    row("select.int", lambda x, dim, i: np.take(x, i, dim), call(t(2, 3), 1, 2), call(t(2, 3), 0, -1)),
    row("slice.Tensor",
        lambda x, dim=0, start=None, end=None, step=1: np.moveaxis(np.moveaxis(x, dim, 0)[start:end:step], 0, dim),
        call(t(4, 3), 0, 1, 3), call(t(4, 3), 1, None, None, 2), call(t(4), 0, -2), call(t(4), 0, 3, 1),
        call(t(4), 0, 0, 99)),
    row("narrow", lambda x, dim, start, length: np.take(x, range(start, start + length), dim),
        call(t(4, 3), 0, 1, 2)),
    row("narrow.Tensor", lambda x, dim, start, length: np.take(x, range(int(start), int(start) + length), dim),
        call(t(4, 3), 0, index(below=2), 2), meta=False),
    row("diagonal", np.diagonal, call(t(3, 3)), call(t(3, 4), 1), call(t(2, 3, 4), -1, 0, 2)),
    row("unfold", unfold, call(t(5), 0, 2, 1), call(t(2, 5), 1, 3, 2)),
    row("unbind.int", lambda x, dim=0: [np.take(x, i, dim) for i in range(x.shape[dim])], call(t(2, 3)),
        call(t(2, 3), 1)),
    row("split.Tensor", pieces, call(t(5, 2), 2), call(t(2, 4), 2, 1)),
    row("chunk", lambda x, n, dim=0: pieces(x, -(-x.shape[dim] // n), dim), call(t(5, 2), 2), call(t(2, 4), 2, 1)),
    row("as_strided", as_strided, call(t(6), [2, 2], [3, 1]), call(t(6), [2, 3], [1, 1], 1), call(t(2, 3), [2], [0])),
    row("select_backward", lambda g, shape, dim, i: zeros_with(shape, (slice(None),) * dim + (i,), g),
        call(t(2), [2, 3], 1, 2), dtypes=FLOATS),
    row("slice_backward",
        lambda g, shape, dim, start, end, step: zeros_with(shape, (slice(None),) * dim + (slice(start, end, step),), g),
        call(t(2, 2), [2, 5], 1, 1, 5, 2), dtypes=FLOATS),
    row("_as_strided_backward", as_strided_backward, call(t(2, 3), [6], [1], 0, [2, 3], [1, 1], 1), dtypes=FLOATS,
        in_torch=False),
    # Views in place: another geometry of the same elements
    row("transpose_", np.swapaxes, call(t(2, 3), 0, 1)),
    row("t_", np.transpose, call(t(2, 3))),
    row("squeeze_", np.squeeze, call(t(1, 2, 1))),
    row("squeeze_.dim", np.squeeze, call(t(1, 2), 0)),
    row("squeeze_.dims", lambda x, dims: np.squeeze(x, tuple(dims)), call(t(1, 2, 1), [0, 2])),
    row("unsqueeze_", np.expand_dims, call(t(2, 3), 1)),
    row("as_strided_", as_strided, call(t(6), [2, 2], [3, 1])),
)  # fmt: skip
