"""What do angles, fractions, single bounds, common divisors, tolerances and powers in double precision compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.samples import BOOL, FLOAT, FLOATS, INTEGERS, NUMBERS, PROMOTED, SAME, Row, always, call, row, t

Array = np.ndarray[Any, Any]
WIDE = ("float64", "float32")
ONE = (call(t(2, 3)), call(t()), call(t(0, 2)), call(t(3, 2, layout="transposed")), call(t(2, 2, layout="stepped")))
TWO = (
    call(t(2, 3), t(2, 3)), call(t(2, 1), t(3)), call(t(3, 2, layout="transposed"), t(3, 2, layout="transposed")),
    call(t(0, 3), t(3)),
)  # fmt: skip
MIXED = call(t(2, 3), t(2, 3, dtype="float32"), dtypes=WIDE)
DOUBLE = always("float64")
POSITIVE = {"low": 0.5, "high": 3}
NEAR = {"rtol": 0.5, "atol": 0.5}


def nan_to_num(x: Array, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Array:
    return np.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def lerp(start: Array, end: Array, weight: Array) -> Array:
    return start + weight * (end - start)


ROWS: tuple[Row, ...] = (
    row("angle", np.angle, *ONE, dtypes=NUMBERS, result=FLOAT),
    row("frac", lambda x: x - np.trunc(x), *ONE, dtypes=FLOATS),
    row("frexp.Tensor", np.frexp, *ONE, dtypes=FLOATS, result=(SAME, always("int32"))),
    row("nan_to_num", nan_to_num, *ONE, call(t(2, 3), 1.0, posinf=2.0)),
    row("deg2rad", np.deg2rad, *ONE, result=FLOAT),
    row("rad2deg", np.rad2deg, *ONE, result=FLOAT, tolerance=2),
    row("isreal", np.isreal, *ONE, result=BOOL, differentiable=False),
    row("isclose", np.isclose, call(t(2, 3), t(3), **NEAR), call(t(2), t(2), 0.0, 0.0), call(t(2), t(2), 1.0),
        result=BOOL, differentiable=False),
    *(row(name, function, *TWO, MIXED, result=PROMOTED)
      for name, function in {"fmax": np.fmax, "fmin": np.fmin}.items()),
    row("heaviside", np.heaviside, *TWO, differentiable=False),
    *(row(name, function, *TWO, dtypes=INTEGERS, result=PROMOTED, differentiable=False)
      for name, function in {"gcd": np.gcd, "lcm": np.lcm}.items()),
    row("ldexp.Tensor", lambda x, y: x * 2.0**y, *TWO, call(t(2, 3), t(2, 3, dtype="int64")), dtypes=NUMBERS,
        result=FLOAT, tolerance=2),
    *(row(f"bitwise_{name}.Scalar_Tensor", function, call(6, t(2, 3, low=0, high=9)), call(1, t(low=0, high=9)),
          dtypes=INTEGERS, differentiable=False)
      for name, function in {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.items()),
    row("float_power.Tensor_Tensor", np.power, call(t(2, 3, **POSITIVE), t(3)), dtypes=FLOATS, result=DOUBLE),
    row("float_power.Tensor_Scalar", np.power, call(t(2, 3), 2), call(t(3, **POSITIVE), -0.5), dtypes=FLOATS,
        result=DOUBLE),
    row("float_power_.Tensor", np.power, call(t(2, 3, **POSITIVE), t(3)), dtypes=("float64",)),
    row("float_power_.Scalar", np.power, call(t(2, 3), 2), dtypes=("float64",)),
    row("float_power.Scalar", np.power, call(2, t(2, 3)), dtypes=FLOATS, result=DOUBLE),
    *(row(name, lambda x, bound, function=function: function(x, bound), call(t(2, 3), 1),
          call(t(3, 2, layout="transposed"), 1), call(t(2, 3), 0.5, result=FLOAT), dtypes=NUMBERS)
      for name, function in {"clamp_max": np.minimum, "clamp_min": np.maximum}.items()),
    *(row(f"{name}.Tensor", function, *TWO, MIXED, result=PROMOTED)
      for name, function in {"clamp_max": np.minimum, "clamp_min": np.maximum}.items()),
    row("lerp.Tensor", lerp, call(t(2, 3), t(3), t(2, 1)), call(t(2, 3), t(2, 3), t()),
        call(*(t(3, 2, layout="transposed") for _ in range(3))), dtypes=FLOATS, tolerance=2),
)  # fmt: skip
