"""What do the operators of the family sorting compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.shared import SINGLE_AND_DOUBLE
from tests.agreement.samples import LONG, NUMBERS, SAME, Row, call, row, t

Array = np.ndarray[Any, Any]
DISTINCT = t(2, 5, distinct=True)
ROTATED = t(5, 2, distinct=True, layout="transposed")
BOTH = (SAME, LONG)


def picked(x: Array, places: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at one place in each row, and the places."""
    values = np.take_along_axis(x, np.expand_dims(places, dim), dim)
    return (values, np.expand_dims(places, dim)) if keepdim else (values.squeeze(dim), places)


def kthvalue(x: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    return picked(x, np.take(np.argsort(x, dim), k - 1, dim), dim, keepdim)


def median(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return kthvalue(x, (x.shape[dim] + 1) // 2, dim, keepdim)


def mode(x: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    """The smallest, where all are different."""
    return picked(x, np.argmin(x, dim), dim, keepdim)


def topk(x: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Array, Array]:
    places = np.take(np.argsort(-x if largest else x, dim), range(k), dim)
    return np.take_along_axis(x, places, dim), places


def quantile(x: Array, q: Any, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear") -> Array:
    return np.asarray(np.quantile(x, q, axis=dim, method=interpolation, keepdims=keepdim))  # type: ignore[call-overload]


SHARES = t(3, low=0, high=1, grad=False)
QUANTILES = (
    call(DISTINCT, SHARES), call(DISTINCT, t(low=0, high=1, grad=False), 1), call(DISTINCT, SHARES, 0, True),
    call(ROTATED, SHARES, -1, interpolation="nearest"), call(DISTINCT, SHARES, 1, interpolation="midpoint"),
)  # fmt: skip
QUANTILES_OF_ONE = (
    call(DISTINCT, 0.3), call(DISTINCT, 0.5, 1, True), call(DISTINCT, 0.3, 1, interpolation="lower"),
    call(DISTINCT, 1.0, 0, interpolation="higher"),
)  # fmt: skip
UNEQUAL = call(t(2, 3, distinct=True))


def in_order(x: Array, dim: int = -1, descending: bool = False, stable: bool = True) -> tuple[Array, Array]:
    """Values and places; NumPy has no descending order of its own."""
    places = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, places, dim), places


ROWS: tuple[Row, ...] = (
    row("topk", topk, call(DISTINCT, 2), call(ROTATED, 3, 0, False), call(DISTINCT, 0), call(t(1, distinct=True), 1, 0),
        dtypes=NUMBERS, result=BOTH),
    row("kthvalue", kthvalue, call(DISTINCT, 2), call(ROTATED, 5, 0, True), dtypes=NUMBERS, result=BOTH),
    row("median", lambda x: np.sort(x, None)[(x.size - 1) // 2], call(DISTINCT), call(t(5, distinct=True)), call(t()),
        dtypes=NUMBERS),
    row("nanmedian", lambda x: np.sort(x, None)[(x.size - 1) // 2], call(DISTINCT), call(t()), dtypes=NUMBERS),
    row("median.dim", median, call(DISTINCT, 1), call(ROTATED, 0, True), dtypes=NUMBERS, result=BOTH),
    row("nanmedian.dim", median, call(DISTINCT, 1), call(ROTATED, 0, True), dtypes=NUMBERS, result=BOTH),
    row("mode", mode, call(DISTINCT), call(ROTATED, 0, True), dtypes=NUMBERS, result=BOTH),
    row("msort", lambda x: np.sort(x, 0), call(DISTINCT), call(t(5, distinct=True)), dtypes=NUMBERS, cuda=False),
    row("quantile", quantile, *QUANTILES, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False, tolerance=4),
    row("nanquantile", quantile, *QUANTILES, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False, tolerance=4),
    row("quantile.scalar", quantile, *QUANTILES_OF_ONE, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False, tolerance=4),
    row("nanquantile.scalar", quantile, *QUANTILES_OF_ONE, dtypes=SINGLE_AND_DOUBLE, meta=False, cuda=False,
        tolerance=4),
    # In order
    row("sort", in_order, UNEQUAL, call(t(2, 3, distinct=True), 0, True), dtypes=NUMBERS, result=(SAME, LONG),
        cuda=False),
    row("sort.stable", in_order, call(t(2, 3, distinct=True), stable=True),
        call(t(3, 2, distinct=True, layout="transposed"), stable=True, dim=0, descending=True),
        call(t(6, low=0, high=1, dtype="int64"), stable=True, result=(LONG, LONG)), dtypes=NUMBERS,
        result=(SAME, LONG)),
    row("argsort", lambda x, *a: in_order(x, *a)[1], UNEQUAL, call(t(2, 3, distinct=True), 0, True), dtypes=NUMBERS,
        result=LONG, differentiable=False, cuda=False),
    row("argsort.stable", lambda x, **k: in_order(x, **k)[1], call(t(6, low=0, high=1, dtype="int64"), stable=True),
        call(t(2, 3, distinct=True), stable=True, dim=0), dtypes=NUMBERS, result=LONG, differentiable=False,
        cuda=False),
)  # fmt: skip
