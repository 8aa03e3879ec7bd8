"""What do the operators of the family dropout compute?

Without training they give their input back, and with probability 1 nothing is left; what they draw otherwise is in
`tests/operators/composite/test_dropout.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.samples import BOOL, FLOATS, SAME, Row, call, mask, row, t

Array = np.ndarray[Any, Any]


def untouched(x: Array, p: float, train: bool) -> Array:
    return x


def dropped(x: Array, p: float, train: bool) -> Array:
    return np.zeros_like(x)


OPERATORS = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
EVALUATED = (call(t(2, 3), 0.5, False), call(t(2, 3), 0.0, True), call(t(3, 2, layout="transposed"), 0.5, False))

ROWS: tuple[Row, ...] = (
    *(row(name, untouched, *EVALUATED, dtypes=FLOATS) for name in OPERATORS),
    *(row(f"{name}_", dropped, call(t(2, 3), 1.0, True), dtypes=FLOATS) for name in OPERATORS),
    row("native_dropout", lambda x, p, train: (x, np.ones(x.shape, bool)), call(t(2, 3), 0.5, False), dtypes=FLOATS,
        result=(SAME, BOOL)),
    row("native_dropout_backward", lambda g, m, scale: g * m * scale, call(t(2, 3), mask(2, 3), 2.0),
        dtypes=FLOATS),
)  # fmt: skip
