"""What do the operators of the family pointwise compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.rows.shared import DOUBLE, FLOATS_AND_INTEGERS, ONE
from tests.agreement.samples import (
    BOOL,
    FLOAT,
    FLOATS,
    INTEGERS,
    LONG,
    NUMBERS,
    PROMOTED,
    SAME,
    Call,
    Row,
    always,
    call,
    mask,
    row,
    t,
)

Array = np.ndarray[Any, Any]
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
WIDE = ("float64", "float32")
PAIRS = (
    call(t(2, 3), t(2, 3)), call(t(2, 1), t(3)), call(t(3, 2, layout="transposed"), t(3, 2, layout="transposed")),
    call(t(0, 3), t(3)),
)  # fmt: skip
MIXED = call(t(2, 3), t(2, 3, dtype="float32"), dtypes=WIDE)
ABOVE_HALF = {"low": 0.5, "high": 3}
NEAR = {"rtol": 0.5, "atol": 0.5}


def nan_to_num(x: Array, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Array:
    return np.nan_to_num(x, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def lerp(start: Array, end: Array, weight: Array) -> Array:
    return start + weight * (end - start)


def filled(x: Array, where: Array, value: Array) -> Array:
    return np.where(where != 0, value, x)


WHOLE = (*INTEGERS, "bool")


def two(**options: Any) -> tuple[Call, ...]:
    """Two tensors: alike, broadcast, transposed, empty, of mixed dtypes."""
    return (
        call(t(2, 3, **options), t(2, 3, **options)),
        call(t(2, 1, **options), t(3, **options)),
        call(t(3, 2, layout="transposed", **options), t(3, 2, layout="transposed", **options)),
        call(t(2, 3, layout="expanded", **options), t(2, 3, layout="stepped", **options)),
        call(t(0, 3, **options), t(3, **options)),
        call(t(2, 3, **options), t(2, 3, dtype="float32", **options), dtypes=FLOATS_AND_INTEGERS),
        call(t(2, 3, **options), t(2, 3, dtype="int64", **options), dtypes=FLOATS_AND_INTEGERS),
    )


def with_number(number: float, **options: Any) -> tuple[Call, ...]:
    """A tensor and a number."""
    return call(t(2, 3, **options), number), call(t(3, 2, layout="transposed", **options), number)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def divide(x: Array, y: Array, rounding_mode: str | None = None) -> Array:
    quotient = x / y
    return {None: lambda q: q, "trunc": np.trunc, "floor": np.floor}[rounding_mode](quotient)


COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal,
}  # fmt: skip
BITWISE: dict[str, Callable[..., Any]] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


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
    row("square", np.square, *ONE, dtypes=NUMBERS),
    row("square_", np.square, *ONE, dtypes=NUMBERS),
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
    row("angle", np.angle, *ONE, dtypes=NUMBERS, result=FLOAT),
    row("frac", lambda x: x - np.trunc(x), *ONE, dtypes=FLOATS),
    row("frexp.Tensor", np.frexp, *ONE, dtypes=FLOATS, result=(SAME, always("int32"))),
    row("nan_to_num", nan_to_num, *ONE, call(t(2, 3), 1.0, posinf=2.0)),
    row("deg2rad", np.deg2rad, *ONE, result=FLOAT),
    row("rad2deg", np.rad2deg, *ONE, result=FLOAT, tolerance=2),
    row("isreal", np.isreal, *ONE, result=BOOL, differentiable=False),
    row("isclose", np.isclose, call(t(2, 3), t(3), **NEAR), call(t(2), t(2), 0.0, 0.0), call(t(2), t(2), 1.0),
        result=BOOL, differentiable=False),
    *(row(name, function, *PAIRS, MIXED, result=PROMOTED)
      for name, function in {"fmax": np.fmax, "fmin": np.fmin}.items()),
    row("heaviside", np.heaviside, *PAIRS, differentiable=False),
    *(row(name, function, *PAIRS, dtypes=INTEGERS, result=PROMOTED, differentiable=False)
      for name, function in {"gcd": np.gcd, "lcm": np.lcm}.items()),
    row("ldexp.Tensor", lambda x, y: x * 2.0**y, *PAIRS, call(t(2, 3), t(2, 3, dtype="int64")), dtypes=NUMBERS,
        result=FLOAT, tolerance=2),
    *(row(f"bitwise_{name}.Scalar_Tensor", function, call(6, t(2, 3, low=0, high=9)), call(1, t(low=0, high=9)),
          dtypes=INTEGERS, differentiable=False)
      for name, function in {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.items()),
    row("float_power.Tensor_Tensor", np.power, call(t(2, 3, **ABOVE_HALF), t(3)), dtypes=FLOATS, result=DOUBLE),
    row("float_power.Tensor_Scalar", np.power, call(t(2, 3), 2), call(t(3, **ABOVE_HALF), -0.5), dtypes=FLOATS,
        result=DOUBLE),
    row("float_power_.Tensor", np.power, call(t(2, 3, **ABOVE_HALF), t(3)), dtypes=("float64",)),
    row("float_power_.Scalar", np.power, call(t(2, 3), 2), dtypes=("float64",)),
    row("float_power.Scalar", np.power, call(2, t(2, 3)), dtypes=FLOATS, result=DOUBLE),
    *(row(name, lambda x, bound, function=function: function(x, bound), call(t(2, 3), 1),
          call(t(3, 2, layout="transposed"), 1), call(t(2, 3), 0.5, result=FLOAT), dtypes=NUMBERS)
      for name, function in {"clamp_max": np.minimum, "clamp_min": np.maximum}.items()),
    *(row(f"{name}.Tensor", function, *PAIRS, MIXED, result=PROMOTED)
      for name, function in {"clamp_max": np.minimum, "clamp_min": np.maximum}.items()),
    row("lerp.Tensor", lerp, call(t(2, 3), t(3), t(2, 1)), call(t(2, 3), t(2, 3), t()),
        call(*(t(3, 2, layout="transposed") for _ in range(3))), dtypes=FLOATS, tolerance=2),
    row("masked_fill.Tensor", filled, call(t(2, 3), mask(2, 3), t()), call(t(2, 3), mask(3), t()),
        call(t(3), mask(2, 3), t()), call(t(3, 2, layout="transposed"), mask(3, 2), t()), meta=False),
    # Pointwise, two tensors
    row("add.Tensor", lambda x, y, alpha=1: x + alpha * y, *two(), call(t(2), t(2), alpha=3),
        call(t(2), t(2), alpha=1.5, dtypes=FLOATS), dtypes=NUMBERS, result=PROMOTED),
    row("add.Scalar", lambda x, y, alpha=1: x + alpha * y, *with_number(2), call(t(2), 3, alpha=2), dtypes=NUMBERS),
    row("sub.Scalar", lambda x, y, alpha=1: x - alpha * y, *with_number(2), call(t(2), 3, alpha=2), dtypes=NUMBERS),
    row("mul.Scalar", np.multiply, *with_number(2), dtypes=NUMBERS),
    row("div.Scalar", np.true_divide, *with_number(2), dtypes=NUMBERS, result=FLOAT),
    row("div.Scalar_mode", divide, call(t(2, 3, low=1, high=9), 2, rounding_mode="trunc"),
        call(t(2, 3, low=1, high=9), 2, rounding_mode="floor"), dtypes=FLOATS_AND_INTEGERS),
    row("floor_divide.Scalar", lambda x, y: np.floor(x / y), *with_number(2), dtypes=FLOATS_AND_INTEGERS,
        differentiable=False),
    row("remainder.Scalar", np.remainder, *with_number(2), dtypes=FLOATS_AND_INTEGERS),
    row("remainder.Scalar_Tensor", np.remainder, call(7, t(2, 3, low=1, high=9)), dtypes=FLOATS_AND_INTEGERS,
        differentiable=False),
    row("sub.Tensor", lambda x, y, alpha=1: x - alpha * y, *two(), call(t(2), t(2), alpha=3), dtypes=NUMBERS,
        result=PROMOTED),
    row("rsub.Tensor", lambda x, y, alpha=1: y - alpha * x, *two(), call(t(2), t(2), alpha=3), dtypes=NUMBERS,
        result=PROMOTED),
    row("rsub.Scalar", lambda x, y, alpha=1: y - alpha * x, *with_number(2), call(t(2), 3, 2), dtypes=NUMBERS),
    row("mul.Tensor", np.multiply, *two(), result=PROMOTED),
    row("div.Tensor", np.true_divide, *two(low=1, high=4), result=FLOAT),
    row("div.Tensor_mode", divide, call(t(2, 3, low=1, high=9), t(3, low=1, high=4), rounding_mode="trunc"),
        call(t(2, 3, low=1, high=9), t(3, low=1, high=4), rounding_mode="floor"),
        call(t(2, 3, low=1, high=9), t(3, low=1, high=4), rounding_mode=None, result=FLOAT),
        dtypes=FLOATS_AND_INTEGERS, result=PROMOTED),
    row("floor_divide", lambda x, y: np.floor(x / y), *two(low=1, high=9), dtypes=FLOATS_AND_INTEGERS,
        result=PROMOTED, differentiable=False),
    row("remainder.Tensor", np.remainder, *two(low=1, high=9), dtypes=FLOATS_AND_INTEGERS, result=PROMOTED),
    row("pow.Tensor_Tensor", np.power, *two(low=1, high=3), dtypes=NUMBERS, result=PROMOTED),
    row("pow.Scalar", lambda x, y: x ** y.astype(float), call(2, t(2, 3, low=0)), call(1, t(3)), dtypes=NUMBERS),
    row("pow.Tensor_Scalar", np.power, *with_number(2), *with_number(3), call(t(3), 0), call(t(3), 1),
        call(t(3, low=1), 0.5, result=FLOAT), call(t(3, low=1), -1, dtypes=FLOATS), dtypes=NUMBERS),
    row("maximum", np.maximum, *two(), result=PROMOTED),
    row("minimum", np.minimum, *two(), result=PROMOTED),
    *(row(f"{name}.Tensor", function, *two(), result=BOOL, differentiable=False)
      for name, function in COMPARISONS.items()),
    *(row(f"{name}.Scalar", function, *with_number(1), *with_number(0.5), result=BOOL, differentiable=False)
      for name, function in COMPARISONS.items()),
    *(row(f"bitwise_{name}.Tensor", function, call(t(2, 3, low=0, high=9), t(3, low=0, high=9)),
          call(t(2, 3, low=0), t(2, 3, dtype="int64", low=0)), dtypes=WHOLE, result=PROMOTED, differentiable=False)
      for name, function in BITWISE.items()),
    *(row(f"bitwise_{name}.Scalar", function, *with_number(6, low=0, high=9), dtypes=INTEGERS, differentiable=False)
      for name, function in BITWISE.items()),
    row("bitwise_not", np.invert, *ONE, dtypes=("int64", "int32", "bool"), differentiable=False),
    # Pointwise, one tensor
    row("neg", np.negative, *ONE, dtypes=NUMBERS),
    row("abs", np.absolute, *ONE, dtypes=NUMBERS),
    row("sgn", np.sign, *ONE, dtypes=NUMBERS),
    row("exp", np.exp, *ONE, result=FLOAT),
    row("log", np.log, *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("sqrt", np.sqrt, *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("rsqrt", lambda x: 1 / np.sqrt(x), *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("reciprocal", lambda x: 1 / x, *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("sin", np.sin, *ONE, result=FLOAT),
    row("cos", np.cos, *ONE, result=FLOAT),
    row("tanh", np.tanh, *ONE, result=FLOAT),
    row("sigmoid", sigmoid, *ONE, result=FLOAT),
    row("relu", lambda x: np.maximum(x, 0), *ONE, dtypes=NUMBERS),
    row("isnan", np.isnan, *ONE, dtypes=NUMBERS, result=BOOL, differentiable=False),
    row("equal", np.array_equal, call(t(2, 3), t(2, 3)), call(t(2), t(3)), differentiable=False, meta=False),
    row("allclose", np.allclose, call(t(2, 3), t(3)), call(t(2), t(2), 1.0), dtypes=FLOATS, differentiable=False,
        meta=False),
    row("positive", lambda x: x, *ONE, dtypes=NUMBERS),
    row("tanh_backward", lambda g, y: g * (1 - y * y), call(t(2, 3), t(2, 3)), dtypes=FLOATS),
    row("sigmoid_backward", lambda g, y: g * y * (1 - y), call(t(2, 3), t(2, 3)), dtypes=FLOATS),
    row("threshold_backward", lambda g, x, threshold: np.where(x > threshold, g, 0), call(t(2, 3), t(2, 3), 0),
        call(t(2, 3), t(2, 3), 1), dtypes=NUMBERS),
    # Pointwise, several tensors
    row("where.self", np.where, call(mask(2, 3), t(2, 3), t(2, 3)), call(mask(2, 1), t(3), t()),
        call(mask(2, 3), t(2, 3), t(2, 3, dtype="float32"), dtypes=FLOATS_AND_INTEGERS),
        result=lambda dtypes: PROMOTED(dtypes[1:])),
    row("where.ScalarSelf", np.where, call(mask(2, 3), 1, t(2, 3)), dtypes=NUMBERS, result=lambda dtypes: dtypes[1]),
    row("where.ScalarOther", np.where, call(mask(2, 3), t(2, 3), 1), dtypes=NUMBERS, result=lambda dtypes: dtypes[1]),
    row("where.Scalar", np.where, call(mask(2, 3), 1, 2), call(mask(3), 1.5, 0, result=always("float32")),
        dtypes=("float32",), result=LONG, differentiable=False),
    row("clamp", lambda x, min=None, max=None: np.clip(x, min, max), call(t(2, 3), -1, 1), call(t(2, 3), min=0),
        call(t(3, 2, layout="transposed"), max=1), dtypes=FLOATS_AND_INTEGERS),
    row("clamp.Tensor", lambda x, min=None, max=None: np.clip(x, min, max),
        call(t(2, 3), t(3, low=-1, high=0), t(3, low=1)), call(t(2, 3), max=t(2, 1)), call(t(2, 3), t(2, 3)),
        dtypes=FLOATS_AND_INTEGERS, result=PROMOTED),
    row("addcmul", lambda x, a, b, value=1: x + value * a * b, call(t(2, 3), t(2, 1), t(3)),
        call(t(2, 3), t(2, 3), t(2, 3), value=2), dtypes=NUMBERS),
    row("addcdiv", lambda x, a, b, value=1: x + value * a / b, call(t(2, 3), t(2, 1), t(3, low=1)),
        call(t(2, 3), t(2, 3), t(2, 3, low=1), value=2), dtypes=FLOATS),
    row("lerp.Scalar", lambda x, end, weight: x + weight * (end - x), call(t(2, 3), t(3), 0.3),
        call(t(2, 3), t(2, 3), 0.8), dtypes=FLOATS),
    row("masked_fill.Scalar", lambda x, m, value: np.where(m, value, x), call(t(2, 3), mask(2, 3), 1),
        call(t(2, 3), mask(3), 0)),
)  # fmt: skip
