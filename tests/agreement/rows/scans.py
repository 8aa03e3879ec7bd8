"""What do the operators of the family scans compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, LONG, SAME, SUMMED, Dtype, Row, always, call, row, t

Array = np.ndarray[Any, Any]


def running(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Values and places, found one after another; of equal elements the last counts."""

    def scan(x: Array, dim: int) -> tuple[Array, Array]:
        values, places = x.copy(), np.zeros(x.shape, np.int64)
        if x.ndim:
            for line, places_of_line in zip(
                np.moveaxis(values, dim, -1).reshape(-1, x.shape[dim]), rows_of(places, dim), strict=True
            ):
                best = 0
                for at in range(len(line)):
                    best = at if better(line[at], line[best]) else best
                    places_of_line[at] = best
            values = np.take_along_axis(x, places, dim)
        return values, places

    return scan


def rows_of(array: Array, dim: int) -> list[Array]:
    """Views of all lines along a dimension."""
    moved = np.moveaxis(array, dim, -1)
    return [moved[at] for at in np.ndindex(*moved.shape[:-1])]


def logcumsumexp(x: Array, dim: int) -> Array:
    return np.log(np.cumsum(np.exp(x), dim)) if x.ndim else x


ROWS: tuple[Row, ...] = (
    # One after another
    row("cummax", running(lambda a, b: a >= b), call(t(2, 3, distinct=True), 1), call(t(4, 2), 0), call(t(), 0),
        call(t(3, 2, layout="transposed", distinct=True), -1), result=(SAME, LONG)),
    row("cummin", running(lambda a, b: a <= b), call(t(2, 3, distinct=True), 1), call(t(4, 2), 0), call(t(), 0),
        call(t(3, 2, layout="transposed", distinct=True), -1), result=(SAME, LONG)),
    row("logcumsumexp", logcumsumexp, call(t(2, 3), 1), call(t(4, 2), 0), call(t(), 0), call(t(0, 2), 0), dtypes=FLOATS,
        tolerance=4),
    # One after another
    row("cumsum", lambda x, dim, **_: np.cumsum(x, dim) if x.ndim else x, call(t(2, 3), 1), call(t(2, 3), 0),
        call(t(), 0), call(t(0, 2), 0), call(t(3, 2, layout="transposed"), -1),
        call(t(2), 0, dtype=Dtype("float64"), result=always("float64")), result=SUMMED, tolerance=4),
    row("cumprod", lambda x, dim, **_: np.cumprod(x, dim) if x.ndim else x, call(t(2, 3), 1), call(t(2, 3), 0),
        call(t(), 0), call(t(0, 2), 0), result=SUMMED, tolerance=4),
)  # fmt: skip
