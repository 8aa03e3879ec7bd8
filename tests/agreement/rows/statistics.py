"""What do the operators of the family statistics compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.shared import DOUBLE, SINGLE_AND_DOUBLE
from tests.agreement.samples import LONG, Row, call, index, row, t

Array = np.ndarray[Any, Any]


def covariance(x: Array, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Array:
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def histogram(x: Array, bins: Any, weight: Any = None, density: bool = False, range: Any = None) -> tuple[Array, Array]:
    return np.histogram(x, bins, range, density, weight)


ROWS: tuple[Row, ...] = (
    # Rows that vary together
    row("cov", covariance, call(t(2, 4)), call(t(4)), call(t(3, 4), correction=0),
        call(t(2, 4), fweights=index(4, below=5), aweights=t(4, low=0.5, dtype="float64", grad=False), result=DOUBLE),
        dtypes=SINGLE_AND_DOUBLE, tolerance=8, cuda=False, meta=False),
    row("corrcoef", lambda x: np.corrcoef(x), call(t(2, 4)), call(t(3, 4)), dtypes=SINGLE_AND_DOUBLE, tolerance=8,
        cuda=False, meta=False),
    row("bincount", lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength), call(index(6, below=4)),
        call(index(6, below=4), None, 7), call(index(0, below=4)), dtypes=("int64",), result=LONG, differentiable=False,
        meta=False),
    row("histc", lambda x, bins, low, high: np.histogram(x, bins, (low, high))[0], call(t(20), 4, -2, 2),
        call(t(3, 4), 3, -1.5, 1), dtypes=SINGLE_AND_DOUBLE, differentiable=False),
    row("histogram.bin_ct", histogram, call(t(20), 4, range=[-2.0, 2.0]), call(t(3, 4), 5),
        call(t(6), 3, weight=t(6, low=0), range=[-1.0, 1.0], density=True), dtypes=SINGLE_AND_DOUBLE,
        differentiable=False, tolerance=4),
    row("histogram.bins_tensor", histogram, call(t(3, 4, low=0), t(3, low=1, high=1)), dtypes=SINGLE_AND_DOUBLE,
        differentiable=False),
)  # fmt: skip
