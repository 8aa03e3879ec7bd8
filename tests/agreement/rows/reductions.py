"""What do the operators of the family reductions compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.rows.shared import DOUBLE
from tests.agreement.samples import BOOL, FLOATS, LONG, NUMBERS, SAME, SUMMED, Call, Dtype, Row, always, call, row, t

Array = np.ndarray[Any, Any]
MIXED = call(t(2, 3, dtype="float32"), dtype=Dtype("float64"), result=DOUBLE, dtypes=("float32",))


def with_mean(function: Callable[..., Any]) -> Callable[..., Any]:
    """A variance or deviation, and the mean over the same dimensions."""

    def both(x: Array, *args: Any, **kwargs: Any) -> tuple[Array, Array]:
        dim = args[0] if args and isinstance(args[0], list) else None
        keepdim = kwargs.get("keepdim", len(args) > 2 and args[2])
        return function(x, *args, **kwargs), np.mean(x, tuple(dim) if dim else None, keepdims=keepdim)

    return both


def extrema(x: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    axis = dim if x.ndim else None
    return np.asarray(np.min(x, axis, keepdims=keepdim)), np.asarray(np.max(x, axis, keepdims=keepdim))


def exclusive_or(x: Array, dim: Any = (), keepdim: bool = False, mode: int = 0) -> Array:
    bits = (x.astype(np.float64) if x.dtype.kind == "f" else x.astype(np.int64)).view(np.uint64)
    return np.asarray(np.bitwise_xor.reduce(bits, tuple(dim) or tuple(range(x.ndim)), keepdims=keepdim))


def moments(name: str, function: Callable[..., Any]) -> tuple[Row, ...]:
    """A variance or its root, and the mean; the rows of var and std, with one result more."""
    matrix: tuple[Call, ...] = (call(t(2, 3)), call(t(2, 3), False))
    return (
        row(name, with_mean(unbiased(function)), *matrix, dtypes=FLOATS, cuda=False),
        row(f"{name}.dim", with_mean(unbiased_dim(function)), call(t(2, 3), [0]),
            call(t(2, 3, 2), [0, -1], False, True), dtypes=FLOATS, cuda=False),
        row(f"{name}.correction", with_mean(variance(function)), call(t(2, 3), correction=1),
            call(t(2, 3), [1], correction=0, keepdim=True),
            call(t(3, 2, layout="transposed"), [0], correction=0.5), dtypes=FLOATS),
    )  # fmt: skip


def over(function: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    """A reduction of NumPy with the arguments of PyTorch's."""

    def reduced(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
        axis = tuple(dim) if isinstance(dim, list) else dim
        return np.asarray(function(x, axis=None if axis == () else axis, keepdims=keepdim, **fixed))

    return reduced


def variance(function: Callable[..., Any]) -> Callable[..., Any]:
    """With PyTorch's correction, which is 1 unless given."""

    def corrected(x: Array, dim: Any = None, correction: float | None = None, keepdim: bool = False) -> Array:
        axis = tuple(dim) if dim else None
        return np.asarray(function(x, axis=axis, keepdims=keepdim, ddof=1 if correction is None else correction))

    return corrected


def unbiased(function: Callable[..., Any]) -> Callable[..., Any]:
    def all_elements(x: Array, unbiased: bool = True) -> Array:
        return np.asarray(function(x, ddof=int(unbiased)))

    return all_elements


def unbiased_dim(function: Callable[..., Any]) -> Callable[..., Any]:
    def over_dims(x: Array, dim: Any, unbiased: bool = True, keepdim: bool = False) -> Array:
        return np.asarray(function(x, axis=tuple(dim) if dim else None, ddof=int(unbiased), keepdims=keepdim))

    return over_dims


def logsumexp(x: Array, dim: Any, keepdim: bool = False) -> Array:
    return np.log(np.exp(x).sum(tuple(dim), keepdims=keepdim))


def reduced(function: Callable[..., Array]) -> Callable[..., Array]:
    """A reduction of NumPy with the arguments of PyTorch's."""

    def over(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
        axis = tuple(dim) if isinstance(dim, list) else dim
        return np.asarray(function(x, axis=None if axis == () else axis, keepdims=keepdim))

    return over


def extremum(function: Callable[..., Array], place: Callable[..., Array]) -> Callable[..., Any]:
    """The values over a dimension, and where they stand."""

    def over(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
        if not x.ndim:
            return x, np.zeros((), np.int64)
        return function(x, axis=dim, keepdims=keepdim), place(x, axis=dim, keepdims=keepdim)

    return over


def argument(place: Callable[..., Array]) -> Callable[..., Array]:
    def over(x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
        return np.asarray(place(x, axis=dim, keepdims=keepdim))

    return over


ROWS: tuple[Row, ...] = (
    row("nansum", over(np.nansum), call(t(2, 3)), call(t(2, 3, 2), [0, -1], True), call(t()), call(t(0, 2), [0]), MIXED,
        result=SUMMED, tolerance=4),
    row("nanmean", over(np.nanmean), call(t(2, 3)), call(t(2, 3, 2), [0, -1], True), call(t()), MIXED, dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("aminmax", extrema, call(t(2, 3, distinct=True)), call(t(2, 3, distinct=True), dim=1),
        call(t(3, 2, 2, distinct=True), dim=0, keepdim=True), call(t(), dim=0), dtypes=NUMBERS),
    *moments("var_mean", np.var),
    *moments("std_mean", np.std),
    row("hash_tensor", exclusive_or, call(t(2, 3)), call(t(2, 3, 2), [0, -1], keepdim=True), call(t()),
        result=always("uint64"), differentiable=False),
    row("prod", over(np.prod), call(t(2, 3)), call(t()), call(t(0)), call(t(3, 2, layout="transposed")), result=SUMMED,
        tolerance=4),
    row("prod.dim_int", over(np.prod), call(t(2, 3), 0), call(t(2, 3, 2), -1, True), call(t(2, 0), 1), result=SUMMED,
        tolerance=4),
    row("var", unbiased(np.var), call(t(2, 3)), call(t(2, 3), False), dtypes=FLOATS, cuda=False),
    row("var.dim", unbiased_dim(np.var), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], False, True), dtypes=FLOATS,
        cuda=False),
    row("var.correction", variance(np.var), call(t(2, 3), correction=1), call(t(2, 3), [1], correction=0, keepdim=True),
        call(t(3, 2, layout="transposed"), [0], correction=0.5), dtypes=FLOATS),
    row("std", unbiased(np.std), call(t(2, 3)), call(t(2, 3), False), dtypes=FLOATS, cuda=False),
    row("std.dim", unbiased_dim(np.std), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], False, True), dtypes=FLOATS,
        cuda=False),
    row("std.correction", variance(np.std), call(t(2, 3), correction=1), call(t(2, 3), [1], correction=0, keepdim=True),
        dtypes=FLOATS),
    row("count_nonzero", over(np.count_nonzero), call(t(2, 3)), call(t(2, 3), 0), call(t()), result=LONG,
        differentiable=False, cuda=False),
    row("count_nonzero.dim_IntList", over(np.count_nonzero), call(t(2, 3), [0]), call(t(2, 3), [0, 1]),
        call(t(2, 3), []), result=LONG, differentiable=False),
    row("logsumexp", logsumexp, call(t(2, 3), [1]), call(t(2, 3, 2), [0, -1], True), dtypes=FLOATS, tolerance=4),
    # Reductions
    row("sum", reduced(np.sum), call(t(2, 3)), call(t()), call(t(0)), call(t(3, 2, layout="transposed")),
        call(t(2), dtype=Dtype("float64"), result=always("float64")), result=SUMMED),
    row("sum.dim_IntList", reduced(np.sum), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], True), call(t(2, 3), None),
        call(t(2, 0), [1]), call(t(3, 2, 2, layout="transposed"), [1]), result=SUMMED),
    row("mean", reduced(np.mean), call(t(2, 3)), call(t()), dtypes=FLOATS),
    row("mean.dim", reduced(np.mean), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], True), call(t(2, 3), None),
        dtypes=FLOATS),
    row("max", np.max, call(t(2, 3, distinct=True)), call(t())),
    row("min", np.min, call(t(2, 3, distinct=True)), call(t())),
    row("max.dim", extremum(np.max, np.argmax), call(t(2, 3, distinct=True), 1),
        call(t(3, 2, 2, distinct=True), 0, True), call(t(), 0), dtypes=NUMBERS, result=(SAME, LONG)),
    row("min.dim", extremum(np.min, np.argmin), call(t(2, 3, distinct=True), 1),
        call(t(3, 2, 2, distinct=True), 0, True), call(t(), 0), dtypes=NUMBERS, result=(SAME, LONG)),
    row("amax", reduced(np.max), call(t(2, 3, distinct=True)), call(t(2, 3, 2, distinct=True), [0, 2], True),
        call(t(3), [0])),
    row("amin", reduced(np.min), call(t(2, 3, distinct=True)), call(t(2, 3, 2, distinct=True), [0, 2], True),
        call(t(3), [0])),
    row("argmax", argument(np.argmax), call(t(2, 3, distinct=True)), call(t(2, 3, distinct=True), 1, True),
        dtypes=NUMBERS, result=LONG, differentiable=False),
    row("argmin", argument(np.argmin), call(t(2, 3, distinct=True)), call(t(2, 3, distinct=True), 0), dtypes=NUMBERS,
        result=LONG, differentiable=False),
    *(row(f"{name}{overload}", reduced(function), *calls, differentiable=False,
          result=lambda dtypes: dtypes[0] if dtypes[0].name == "uint8" else BOOL(dtypes))
      for name, function in {"all": np.all, "any": np.any}.items()
      for overload, calls in {
          "": (call(t(2, 3, low=0, high=1)), call(t(0))),
          ".dim": (call(t(2, 3, low=0, high=1), 1), call(t(2, 3, low=0, high=1), 0, True)),
          ".dims": (call(t(2, 3, low=0, high=1), [0, 1]), call(t(2, 3, low=0, high=1), None, True)),
      }.items()),
)  # fmt: skip
