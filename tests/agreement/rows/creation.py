"""What do the operators of the family creation compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.rows.shared import ONE
from tests.agreement.samples import BOOL, LONG, Dtype, Row, always, call, row, t

Array = np.ndarray[Any, Any]
SINGLE = always("float32")


def linspace(start: Any, end: Any, steps: int, **_: Any) -> Array:
    return np.linspace(start, end, steps)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **_: Any) -> Array:
    return np.logspace(start, end, steps, base=base)


def windowed(function: Callable[..., Array]) -> Callable[..., Array]:
    """A periodic window is a longer one without its last point."""

    def window(length: int, periodic: bool = True, *parameters: float, **_: Any) -> Array:
        return function(length + periodic, *parameters)[:length] if length > 1 else np.ones(length)

    return window


def hamming(length: int, alpha: float = 0.54, beta: float = 0.46) -> Array:
    return alpha - beta * np.cos(2 * np.pi * np.arange(length) / (length - 1))


def kaiser(length: int, beta: float = 12.0) -> Array:
    return np.kaiser(length, beta)


# The window, and what its overloads take after the length
WINDOWS: dict[str, tuple[Callable[..., Array], dict[str, tuple[Any, ...]]]] = {
    "bartlett_window": (np.bartlett, {}),
    "blackman_window": (np.blackman, {}),
    "hann_window": (np.hanning, {}),
    "hamming_window": (hamming, {".periodic_alpha": (True, 0.6), ".periodic_alpha_beta": (False, 0.6, 0.3)}),
    "kaiser_window": (kaiser, {".beta": (True, 3.0)}),
}
ENDS = {"Tensor_Tensor": (t(), t()), "Tensor_Scalar": (t(), 3), "Scalar_Tensor": (-1.5, t())}


ROWS: tuple[Row, ...] = (
    row("eye", lambda n, **_: np.eye(n), call(3), call(0), call(2, dtype=Dtype("bool"), result=BOOL),
        dtypes=("float32",), result=SINGLE, differentiable=False),
    row("eye.m", lambda n, m, **_: np.eye(n, m), call(2, 3), call(3, 1), call(0, 2),
        call(1, 4, dtype=Dtype("int64"), result=LONG), dtypes=("float32",), result=SINGLE, differentiable=False),
    row("range", lambda low, high, **_: np.arange(low, high + 0.5), call(0, 3), call(-1.5, 2), call(2, 2.5),
        call(0, 4, dtype=Dtype("int64"), result=LONG), dtypes=("float32",), result=SINGLE, differentiable=False),
    row("range.step", lambda low, high, step, **_: np.arange(low, high + step / 2, step), call(0, 5, 1.25),
        call(3, -2, -1.25), call(1, 9, 4, dtype=Dtype("int64"), result=LONG), dtypes=("float32",), result=SINGLE,
        differentiable=False),
    row("linspace", linspace, call(-2, 3.5, 7), call(1, 1, 3), call(4, -4, 1), call(0, 1, 0),
        call(0, 8, 5, dtype=Dtype("int64"), result=LONG), dtypes=("float32",), result=SINGLE, differentiable=False,
        tolerance=2),
    row("logspace", logspace, call(-2, 1, 4), call(0, 3, 1), call(0, 1, 0), call(0, 8, 5, 2.0),
        call(0, 8, 5, 2.0, dtype=Dtype("int64"), result=LONG), dtypes=("float32",), result=SINGLE,
        differentiable=False, tolerance=2),
    *(row(f"{function.__name__}.{overload}", function, call(*ends, 5), dtypes=("float32", "float64"), result=SINGLE,
          differentiable=False, meta=False, tolerance=8)
      for function in (linspace, logspace) for overload, ends in ENDS.items()),
    row("tril_indices", lambda n, m, k=0, **_: np.stack(np.tril_indices(n, k, m)), call(3, 3), call(2, 4, 1),
        call(4, 2, -1), call(0, 3), call(3, 3, dtype=Dtype("int32"), result=always("int32")), dtypes=("int64",),
        result=LONG, differentiable=False),
    row("triu_indices", lambda n, m, k=0, **_: np.stack(np.triu_indices(n, k, m)), call(3, 3), call(2, 4, 1),
        call(4, 2, -1), call(0, 3), call(3, 3, dtype=Dtype("int32"), result=always("int32")), dtypes=("int64",),
        result=LONG, differentiable=False),
    *(row(name + overload, windowed(function), call(8, *rest), call(1, *rest), call(0, *rest), dtypes=("float32",),
          result=SINGLE, differentiable=False, tolerance=4)
      for name, (function, more) in WINDOWS.items()
      for overload, rest in {"": (), ".periodic": (False,), **more}.items()),
    row("zeros", lambda size, **_: np.zeros(size), call([2, 3]), call([0], dtype=Dtype("int64"), result=LONG),
        dtypes=("float32",), result=always("float32"), differentiable=False),
    row("ones", lambda size, **_: np.ones(size), call([2, 3]), call([], dtype=Dtype("bool"), result=BOOL),
        dtypes=("float32",), result=always("float32"), differentiable=False),
    row("full", lambda size, value, **_: np.full(size, value), call([2, 3], 1.5), call([2], 7, result=LONG),
        call([2], True, result=BOOL), dtypes=("float32",), result=always("float32"), differentiable=False),
    row("scalar_tensor", lambda value, **_: np.array(value), call(1.5), call(7), dtypes=("float32",),
        result=always("float32"), differentiable=False),
    row("arange", lambda end, **_: np.arange(end), call(5), call(0), call(2.5, result=always("float32")),
        dtypes=("int64",), result=LONG, differentiable=False),
    row("arange.start", lambda start, end, **_: np.arange(start, end), call(2, 5),
        call(-1.5, 2, result=always("float32")), dtypes=("int64",), result=LONG, differentiable=False),
    row("arange.start_step", lambda start, end, step=1, **_: np.arange(start, end, step), call(2, 9, 3),
        call(5, 0, -2), call(0, 1, 0.25, result=always("float32")), dtypes=("int64",), result=LONG,
        differentiable=False),
    row("zeros_like", lambda x, **_: np.zeros_like(x), *ONE, call(t(2), dtype=Dtype("int64"), result=LONG),
        differentiable=False),
    row("ones_like", lambda x, **_: np.ones_like(x), *ONE, differentiable=False),
    row("full_like", lambda x, value, **_: np.full_like(x, value), call(t(2, 3), 1),
        call(t(3, 2, layout="transposed"), 0), differentiable=False),
    row("new_zeros", lambda x, size, **_: np.zeros(size), call(t(1), [2, 2]), differentiable=False),
    row("new_ones", lambda x, size, **_: np.ones(size), call(t(1), [2, 2]), differentiable=False),
    row("new_full", lambda x, size, value, **_: np.full(size, value), call(t(1), [2, 2], 1), differentiable=False),
)  # fmt: skip
