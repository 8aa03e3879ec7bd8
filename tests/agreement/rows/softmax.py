"""What do the operators of the family softmax compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, Dtype, Row, always, call, row, t

Array = np.ndarray[Any, Any]


def softmax(x: Array, dim: int, *_: Any) -> Array:
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def log_softmax(x: Array, dim: int, *_: Any) -> Array:
    return np.log(softmax(x, dim))


def softmax_backward(grad: Array, output: Array, dim: int, dtype: Any) -> Array:
    return output * (grad - (grad * output).sum(dim, keepdims=True))


def log_softmax_backward(grad: Array, output: Array, dim: int, dtype: Any) -> Array:
    return grad - np.exp(output) * grad.sum(dim, keepdims=True)


ROWS: tuple[Row, ...] = (
    # Neural networks
    row("_softmax", softmax, call(t(2, 3), 1, False), call(t(2, 3), 0, False), dtypes=FLOATS),
    row("softmax.int", softmax, call(t(2, 3), -1), call(t(2, 3), 0, Dtype("float64"), result=always("float64")),
        dtypes=FLOATS),
    row("_softmax_backward_data", softmax_backward,
        call(t(2, 3, dtype="float64"), t(2, 3, dtype="float64", low=0), 1, Dtype("float64")), dtypes=("float64",)),
    row("_log_softmax", log_softmax, call(t(2, 3), 1, False), call(t(2, 3), 0, False), dtypes=FLOATS),
    row("log_softmax.int", log_softmax, call(t(2, 3), -1), dtypes=FLOATS),
    row("_log_softmax_backward_data", log_softmax_backward,
        call(t(2, 3, dtype="float64"), t(2, 3, dtype="float64"), 1, Dtype("float64")), dtypes=("float64",)),
)  # fmt: skip
