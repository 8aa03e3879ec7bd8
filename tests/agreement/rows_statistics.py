"""What do products, variances, counts, running sums, sorting, searching, taking and repeating compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.samples import BOOL, FLOATS, LONG, NUMBERS, SAME, SUMMED, Dtype, Row, always, call, index, row, t

Array = np.ndarray[Any, Any]
INT = always("int32")
DISTINCT = call(t(2, 3, distinct=True))


def over(function: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    """A reduction of NumPy with the arguments of PyTorch's."""

    def reduced(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
        axis = tuple(dim) if isinstance(dim, list) else dim
        return np.asarray(function(x, axis=None if axis == () else axis, keepdims=keepdim, **fixed))

    return reduced


def variance(function: Callable[..., Any]) -> Callable[..., Any]:
    """With PyTorch's correction, which is 1 unless given."""

    def corrected(x: Array, dim: Any = None, correction: float | None = None, keepdim: bool = False) -> Array:
        axis = tuple(dim) if dim else None
        return np.asarray(function(x, axis=axis, keepdims=keepdim, ddof=1 if correction is None else correction))

    return corrected


def unbiased(function: Callable[..., Any]) -> Callable[..., Any]:
    def all_elements(x: Array, unbiased: bool = True) -> Array:
        return np.asarray(function(x, ddof=int(unbiased)))

    return all_elements


def unbiased_dim(function: Callable[..., Any]) -> Callable[..., Any]:
    def over_dims(x: Array, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Array:
        return np.asarray(function(x, axis=tuple(dim) if dim else None, ddof=int(unbiased), keepdims=keepdim))

    return over_dims


def logsumexp(x: Array, dim: Any, keepdim: bool = False) -> Array:
    return np.log(np.exp(x).sum(tuple(dim), keepdims=keepdim))


def in_order(x: Array, dim: int = -1, descending: bool = False, stable: bool = True) -> tuple[Array, Array]:
    """Values and places; NumPy has no descending order of its own."""
    places = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, places, dim), places


def searchsorted(
    x: Array, values: Any, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None
) -> Array:
    where = side or ("right" if right else "left")
    if x.ndim == 1:
        return np.asarray(np.searchsorted(x, values, where, sorter))
    return np.stack([np.searchsorted(one, some, where) for one, some in zip(x, values, strict=True)])


def repeated(x: Array, repeats: Any, dim: int | None = None, output_size: int | None = None) -> Array:
    return np.repeat(x, repeats, axis=dim)


def taken(x: Array, places: Array, dim: int | None = None) -> Array:
    return np.take(x, places) if dim is None else np.take_along_axis(x, places, dim)


def diff(x: Array, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Array:
    parts = [part for part in (prepend, x, append) if part is not None]
    return np.diff(np.concatenate(parts, dim), n, dim)


ROWS: tuple[Row, ...] = (
    # Reductions
    row("prod", over(np.prod), call(t(2, 3)), call(t()), call(t(0)), call(t(3, 2, layout="transposed")), result=SUMMED,
        tolerance=4),
    row("prod.dim_int", over(np.prod), call(t(2, 3), 0), call(t(2, 3, 2), -1, True), call(t(2, 0), 1), result=SUMMED,
        tolerance=4),
    row("var", unbiased(np.var), call(t(2, 3)), call(t(2, 3), False), dtypes=FLOATS, cuda=False),
    row("var.dim", unbiased_dim(np.var), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], False, True), dtypes=FLOATS,
        cuda=False),
    row("var.correction", variance(np.var), call(t(2, 3), correction=1), call(t(2, 3), [1], correction=0, keepdim=True),
        call(t(3, 2, layout="transposed"), [0], correction=0.5), dtypes=FLOATS),
    row("std", unbiased(np.std), call(t(2, 3)), call(t(2, 3), False), dtypes=FLOATS, cuda=False),
    row("std.dim", unbiased_dim(np.std), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], False, True), dtypes=FLOATS,
        cuda=False),
    row("std.correction", variance(np.std), call(t(2, 3), correction=1), call(t(2, 3), [1], correction=0, keepdim=True),
        dtypes=FLOATS),
    row("count_nonzero", over(np.count_nonzero), call(t(2, 3)), call(t(2, 3), 0), call(t()), result=LONG,
        differentiable=False, cuda=False),
    row("count_nonzero.dim_IntList", over(np.count_nonzero), call(t(2, 3), [0]), call(t(2, 3), [0, 1]),
        call(t(2, 3), []), result=LONG, differentiable=False),
    row("logsumexp", logsumexp, call(t(2, 3), [1]), call(t(2, 3, 2), [0, -1], True), dtypes=FLOATS, tolerance=4),
    # One after another
    row("cumsum", lambda x, dim, **_: np.cumsum(x, dim) if x.ndim else x, call(t(2, 3), 1), call(t(2, 3), 0),
        call(t(), 0), call(t(0, 2), 0), call(t(3, 2, layout="transposed"), -1),
        call(t(2), 0, dtype=Dtype("float64"), result=always("float64")), result=SUMMED, tolerance=4),
    row("cumprod", lambda x, dim, **_: np.cumprod(x, dim) if x.ndim else x, call(t(2, 3), 1), call(t(2, 3), 0),
        call(t(), 0), call(t(0, 2), 0), result=SUMMED, tolerance=4),
    row("diff", diff, call(t(2, 3)), call(t(4), 2), call(t(2, 3), 1, 0), call(t(2, 3), 1, 1, t(2, 1), t(2, 2)),
        dtypes=NUMBERS),
    # In order
    row("sort", in_order, DISTINCT, call(t(2, 3, distinct=True), 0, True), dtypes=NUMBERS, result=(SAME, LONG),
        cuda=False),
    row("sort.stable", in_order, call(t(2, 3, distinct=True), stable=True),
        call(t(3, 2, distinct=True, layout="transposed"), stable=True, dim=0, descending=True),
        call(t(6, low=0, high=1, dtype="int64"), stable=True, result=(LONG, LONG)), dtypes=NUMBERS,
        result=(SAME, LONG)),
    row("argsort", lambda x, *a: in_order(x, *a)[1], DISTINCT, call(t(2, 3, distinct=True), 0, True), dtypes=NUMBERS,
        result=LONG, differentiable=False, cuda=False),
    row("argsort.stable", lambda x, **k: in_order(x, **k)[1], call(t(6, low=0, high=1, dtype="int64"), stable=True),
        call(t(2, 3, distinct=True), stable=True, dim=0), dtypes=NUMBERS, result=LONG, differentiable=False,
        cuda=False),
    row("searchsorted.Tensor", searchsorted,
        call(t(3, dtype="int64", low=2, high=2), t(2, 3, dtype="int64")),
        call(t(3, dtype="int64", low=1, high=1), t(2, dtype="int64"), right=True),
        call(t(2, 1, dtype="int64"), t(2, 3, dtype="int64"), side="right"),
        call(t(3, dtype="int64", low=1, high=1), t(4, dtype="int64"), out_int32=True, result=INT),
        dtypes=("int64",), result=LONG, differentiable=False),
    row("searchsorted.Scalar", searchsorted, call(t(3, dtype="int64", low=1, high=1), 2), dtypes=("int64",),
        result=LONG, differentiable=False),
    row("isin.Tensor_Tensor", lambda x, y, **k: np.isin(x, y, **k), call(t(2, 3), t(4)),
        call(t(2, 3), t(4), invert=True), call(t(2, 0), t(0)), dtypes=NUMBERS, result=BOOL, differentiable=False),
    row("isin.Tensor_Scalar", lambda x, y, **k: np.isin(x, y), call(t(2, 3), 1), dtypes=NUMBERS, result=BOOL,
        differentiable=False),
    row("isin.Scalar_Tensor", lambda x, y, **k: np.isin(x, y), call(1, t(2, 3)), dtypes=NUMBERS, result=BOOL,
        differentiable=False),
    # Picking and repeating
    row("take", np.take, call(t(2, 3), index(4, below=6)), call(t(3, 2, layout="transposed"), index(2, 2, below=6)),
        meta=False),
    row("take_along_dim", taken, call(t(2, 3), index(2, 2, below=3), 1), call(t(2, 3), index(4, below=6)),
        call(t(2, 3), index(1, 3, below=2), 0)),
    row("repeat_interleave.Tensor", lambda x: np.repeat(np.arange(x.size), x), call(index(4, below=3)),
        dtypes=("int64",), differentiable=False, meta=False),
    row("repeat_interleave.self_Tensor", repeated, call(t(2, 3), index(3, below=3), 1), call(t(3), index(3, below=3)),
        meta=False, cuda=False),
    row("repeat_interleave.self_int", repeated, call(t(2, 3), 2), call(t(2, 3), 3, 0), call(t(), 2),
        call(t(2, 3), 0, 1)),
)  # fmt: skip
