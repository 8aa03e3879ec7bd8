"""Which calls and oracles do rows of several families share?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.samples import T, always, call, t

Array = np.ndarray[Any, Any]
SINGLE_AND_DOUBLE = ("float32", "float64")
INT = always("int32")
DOUBLE = always("float64")


def same(x: Array) -> Array:
    return x


TRANSPOSED = t(3, 2, layout="transposed")
STEPPED = t(2, 4, layout="stepped")
SUMS = ("float32", "float64", "int64")
ANY: tuple[T, ...] = (t(2, 3), t(), t(0, 2), TRANSPOSED, STEPPED)
FLOATS_AND_INTEGERS = ("float32", "float64", "int64", "int32")
ONE = (call(t(2, 3)), call(t()), call(t(0, 2)), call(t(3, 2, layout="transposed")), call(t(2, 2, layout="stepped")))
