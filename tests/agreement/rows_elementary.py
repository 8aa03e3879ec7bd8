"""What do angles, hyperbolic functions, logarithms, rounding, signs, truth and shifts compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.samples import BOOL, FLOAT, FLOATS, INTEGERS, NUMBERS, PROMOTED, SAME, Row, call, row, t

Array = np.ndarray[Any, Any]

ONE = (call(t(2, 3)), call(t()), call(t(0, 2)), call(t(3, 2, layout="transposed")), call(t(2, 2, layout="stepped")))
TWO = (
    call(t(2, 3), t(2, 3)), call(t(2, 1), t(3)), call(t(3, 2, layout="transposed"), t(3, 2, layout="transposed")),
    call(t(0, 3), t(3)), call(t(2, 3), t(2, 3, dtype="float32"), dtypes=("float32", "float64")),
)  # fmt: skip
WITH_NUMBER = (call(t(2, 3), 2), call(t(3, 2, layout="transposed"), 3))
INSIDE = (call(t(2, 3, low=-0.9, high=0.9)), call(t(3, 2, low=-0.9, high=0.9, layout="transposed")))
ABOVE_1 = (call(t(2, 3, low=1.5, high=3)), call(t(3, 2, low=1.5, high=3, layout="transposed")))
POSITIVE = (call(t(2, 3, low=0.5, high=3)), call(t(low=1)), call(t(3, 2, low=0.5, layout="transposed")))
SHIFTS = (call(t(2, 3), t(2, 3, low=0)), call(t(2, 1), t(3, low=0)), call(t(3, 2, layout="transposed"), t(2, low=0)))


def no_fraction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Rounding leaves integers as they are."""
    return lambda x, *_, **options: function(x, **options) if x.dtype.kind == "f" else x


UNARY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "tan": (np.tan, INSIDE), "asin": (np.arcsin, INSIDE), "acos": (np.arccos, INSIDE), "atan": (np.arctan, ONE),
    "sinh": (np.sinh, ONE), "cosh": (np.cosh, ONE), "asinh": (np.arcsinh, ONE), "acosh": (np.arccosh, ABOVE_1),
    "atanh": (np.arctanh, INSIDE), "expm1": (np.expm1, ONE), "exp2": (np.exp2, ONE), "log1p": (np.log1p, POSITIVE),
    "log2": (np.log2, POSITIVE), "log10": (np.log10, POSITIVE),
}  # fmt: skip

ROWS: tuple[Row, ...] = (
    *(row(name, function, *calls, dtypes=NUMBERS if calls is not INSIDE else FLOATS, result=FLOAT, tolerance=2)
      for name, (function, calls) in UNARY.items()),
    row("ceil", no_fraction(np.ceil), *ONE, dtypes=NUMBERS),
    row("floor", no_fraction(np.floor), *ONE, dtypes=NUMBERS),
    row("trunc", no_fraction(np.trunc), *ONE, dtypes=NUMBERS),
    row("round", no_fraction(np.round), *ONE, dtypes=NUMBERS),
    row("round.decimals", np.round, call(t(2, 3), decimals=0), dtypes=("float64", "float32")),
    row("sign", np.sign, *ONE, dtypes=NUMBERS),
    row("signbit", np.signbit, *ONE, result=BOOL, differentiable=False, dtypes=NUMBERS),
    row("isposinf", lambda x: np.isinf(x) & (x > 0), *ONE, result=BOOL, differentiable=False),
    row("isneginf", lambda x: np.isinf(x) & (x < 0), *ONE, result=BOOL, differentiable=False),
    row("isinf", np.isinf, *ONE, result=BOOL, differentiable=False),
    row("isfinite", np.isfinite, *ONE, result=BOOL, differentiable=False),
    row("logical_not", np.logical_not, *ONE, result=BOOL, differentiable=False),
    row("square", np.square, *ONE, dtypes=NUMBERS), row("square_", np.square, *ONE, dtypes=NUMBERS),
    row("atan2", np.arctan2, *TWO, dtypes=NUMBERS, result=FLOAT),
    row("hypot", np.hypot, *TWO, dtypes=FLOATS, result=PROMOTED),
    row("logaddexp", np.logaddexp, *TWO, dtypes=FLOATS, result=PROMOTED),
    row("logaddexp2", np.logaddexp2, *TWO, dtypes=FLOATS, result=PROMOTED),
    row("nextafter", lambda x, y: x, call(t(2, 3), t(2, 3)), dtypes=("float32", "float64"), tolerance=1),
    row("copysign.Tensor", np.copysign, *TWO[:4], dtypes=NUMBERS, result=FLOAT),
    row("copysign.Scalar", np.copysign, *WITH_NUMBER, dtypes=NUMBERS, result=FLOAT),
    row("fmod.Tensor", np.fmod, call(t(2, 3), t(2, 3, low=1)), call(t(2, 1), t(3, low=1)), dtypes=NUMBERS),
    row("fmod.Scalar", np.fmod, *WITH_NUMBER, dtypes=NUMBERS),
    *(row(name, function, *TWO[:4], result=BOOL, differentiable=False)
      for name, function in {
          "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
      }.items()),
    *(row(f"{name}.{overload}", function, *calls, dtypes=INTEGERS, differentiable=False, result=SAME)
      for name, function in {
          "bitwise_left_shift": np.left_shift, "bitwise_right_shift": np.right_shift,
      }.items()
      for overload, calls in {
          "Tensor": SHIFTS,
          "Tensor_Scalar": WITH_NUMBER,
          "Scalar_Tensor": (call(5, t(2, 3, low=0)),),
      }.items()),
)  # fmt: skip
