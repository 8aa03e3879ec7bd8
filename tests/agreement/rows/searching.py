"""What do the operators of the family searching compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.shared import INT
from tests.agreement.samples import BOOL, LONG, NUMBERS, Row, call, row, t

Array = np.ndarray[Any, Any]


def bucketize(x: Any, borders: Array, out_int32: bool = False, right: bool = False) -> Array:
    return np.asarray(np.searchsorted(borders, x, "right" if right else "left"))


def searchsorted(
    x: Array, values: Any, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Any = None
) -> Array:
    where = side or ("right" if right else "left")
    if x.ndim == 1:
        return np.asarray(np.searchsorted(x, values, where, sorter))
    return np.stack([np.searchsorted(one, some, where) for one, some in zip(x, values, strict=True)])


ROWS: tuple[Row, ...] = (
    # By bins
    row("bucketize.Tensor", bucketize, call(t(2, 3), t(3, low=1, high=1)),
        call(t(2, 3), t(3, low=1, high=1), right=True),
        call(t(2, 3), t(3, low=0, high=0), out_int32=True, result=INT), dtypes=NUMBERS, result=LONG,
        differentiable=False),
    row("bucketize.Scalar", bucketize, call(1, t(3, low=1, high=1)), call(1, t(3, low=1, high=1), right=True),
        dtypes=NUMBERS, result=LONG, differentiable=False),
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
)  # fmt: skip
