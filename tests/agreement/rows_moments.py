"""What do sums without NaN, moments, running extrema, norms, integrals, gradients and covariances compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.rows_statistics import over, unbiased, unbiased_dim, variance
from tests.agreement.samples import FLOATS, LONG, NUMBERS, SAME, SUMMED, Call, Dtype, Row, always, call, index, row, t

Array = np.ndarray[Any, Any]
SINGLE_AND_DOUBLE = ("float32", "float64")
DOUBLE = always("float64")
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


def running(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    """Values and places, found one after another; of equal elements the last counts."""

    def scan(x: Array, dim: int) -> tuple[Array, Array]:
        values, places = x.copy(), np.zeros(x.shape, np.int64)
        if x.ndim:
            for line, places_of_line in zip(
                np.moveaxis(values, dim, -1).reshape(-1, x.shape[dim]), rows_of(places, dim), strict=True
            ):
                best = 0
                for at in range(len(line)):
                    best = at if better(line[at], line[best]) else best
                    places_of_line[at] = best
            values = np.take_along_axis(x, places, dim)
        return values, places

    return scan


def rows_of(array: Array, dim: int) -> list[Array]:
    """Views of all lines along a dimension."""
    moved = np.moveaxis(array, dim, -1)
    return [moved[at] for at in np.ndindex(*moved.shape[:-1])]


def logcumsumexp(x: Array, dim: int) -> Array:
    return np.log(np.cumsum(np.exp(x), dim)) if x.ndim else x


def exclusive_or(x: Array, dim: Any = (), keepdim: bool = False, mode: int = 0) -> Array:
    bits = (x.astype(np.float64) if x.dtype.kind == "f" else x.astype(np.int64)).view(np.uint64)
    return np.asarray(np.bitwise_xor.reduce(bits, tuple(dim) or tuple(range(x.ndim)), keepdims=keepdim))


def integral(y: Array, x: Any = None, dx: Any = 1, dim: int = -1) -> Array:
    return np.asarray(np.trapezoid(y, x, dx, dim))


def running_integral(y: Array, x: Any = None, dx: Any = 1, dim: int = -1) -> Array:
    step = dx if x is None else np.diff(x).reshape([-1 if d == dim % y.ndim else 1 for d in range(y.ndim)])
    left, right = (np.take(y, np.arange(i, y.shape[dim] - 1 + i), dim) for i in (0, 1))
    return np.cumsum((left + right) * step / 2, dim)


def gradient(x: Array, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> list[Array]:
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    steps = spacing if isinstance(spacing, list) else [1 if spacing is None else spacing] * len(dims)
    return [np.gradient(x, step, axis=d, edge_order=edge_order) for step, d in zip(steps, dims, strict=True)]


def covariance(x: Array, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Array:
    return np.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def norm(x: Array, p: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    order = 2 if p is None else p
    sizes = np.abs(x)
    axis = tuple(dim) if dim else None
    return np.asarray((sizes**order).sum(axis, keepdims=keepdim) ** (1 / order))


def limited(x: Array, p: float, dim: int, maxnorm: float) -> Array:
    axis = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    size = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return x * np.where(size > maxnorm, maxnorm / (size + 1e-7), 1)


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


ROWS: tuple[Row, ...] = (
    # Reductions
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
    # One after another
    row("cummax", running(lambda a, b: a >= b), call(t(2, 3, distinct=True), 1), call(t(4, 2), 0), call(t(), 0),
        call(t(3, 2, layout="transposed", distinct=True), -1), result=(SAME, LONG)),
    row("cummin", running(lambda a, b: a <= b), call(t(2, 3, distinct=True), 1), call(t(4, 2), 0), call(t(), 0),
        call(t(3, 2, layout="transposed", distinct=True), -1), result=(SAME, LONG)),
    row("logcumsumexp", logcumsumexp, call(t(2, 3), 1), call(t(4, 2), 0), call(t(), 0), call(t(0, 2), 0), dtypes=FLOATS,
        tolerance=4),
    # Integrals and derivatives of samples
    row("trapezoid.x", integral, call(t(2, 3), t(3)), call(t(3, 2), t(3), dim=0), call(t(2, 3), t(2, 3)), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("trapezoid.dx", integral, call(t(2, 3)), call(t(3, 2), dx=0.5, dim=0), dtypes=FLOATS, tolerance=4, cuda=False),
    row("trapz.dx", integral, call(t(2, 3)), call(t(3, 2), dx=0.5, dim=0), dtypes=FLOATS, tolerance=4, cuda=False),
    row("cumulative_trapezoid.x", running_integral, call(t(2, 3), t(3)), call(t(3, 2), t(3), dim=0), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("cumulative_trapezoid.dx", running_integral, call(t(2, 3)), call(t(3, 2), dx=0.5, dim=0), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("gradient.scalarint", gradient, call(t(3, 4)), call(t(3, 4), spacing=2.0, dim=1, edge_order=2), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("gradient.scalararray", gradient, call(t(3, 4), spacing=0.5, dim=[0, -1]), dtypes=FLOATS, tolerance=4,
        cuda=False),
    row("gradient.array", gradient, call(t(3, 4), dim=[1]), call(t(3, 4), dim=[1, 0], edge_order=2), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("gradient.scalarrayint", gradient, call(t(3, 4), spacing=[0.5, 2]), call(t(4), spacing=[0.5], dim=0),
        dtypes=FLOATS, tolerance=4, cuda=False),
    row("gradient.scalarrayarray", gradient, call(t(3, 4), spacing=[0.5, 2], dim=[1, 0]), dtypes=FLOATS, tolerance=4,
        cuda=False),
    row("gradient.tensorarrayint", gradient, call(t(4), spacing=[t(4, distinct=True)]),
        call(t(3, 4), spacing=[t(3, distinct=True, grad=False)], dim=0, edge_order=2), dtypes=SINGLE_AND_DOUBLE,
        tolerance=16, cuda=False),
    row("gradient.tensorarray", gradient,
        call(t(3, 4), spacing=[t(4, distinct=True), t(3, distinct=True)], dim=[1, 0]), dtypes=SINGLE_AND_DOUBLE,
        tolerance=16, cuda=False),
    # Rows that vary together
    row("cov", covariance, call(t(2, 4)), call(t(4)), call(t(3, 4), correction=0),
        call(t(2, 4), fweights=index(4, below=5), aweights=t(4, low=0.5, dtype="float64", grad=False), result=DOUBLE),
        dtypes=SINGLE_AND_DOUBLE, tolerance=8, cuda=False, meta=False),
    row("corrcoef", lambda x: np.corrcoef(x), call(t(2, 4)), call(t(3, 4)), dtypes=SINGLE_AND_DOUBLE, tolerance=8,
        cuda=False, meta=False),
    # Norms
    row("norm.Scalar", norm, call(t(2, 3)), call(t(2, 3), 3), dtypes=FLOATS, tolerance=4, cuda=False),
    row("norm.ScalarOpt_dim", norm, call(t(2, 3), None, [1]), call(t(2, 3), 1, [0], True), dtypes=FLOATS, tolerance=4,
        cuda=False),
    row("norm.ScalarOpt_dtype", norm, call(t(2, 3), 2, dtype=Dtype("float64")), dtypes=SINGLE_AND_DOUBLE, tolerance=4,
        result=DOUBLE, cuda=False),
    row("norm.ScalarOpt_dim_dtype", norm, call(t(2, 3), None, [0], True, dtype=Dtype("float64")),
        dtypes=SINGLE_AND_DOUBLE, tolerance=4, result=DOUBLE, cuda=False),
    row("dist", lambda x, y, p=2: norm(x - y, p), call(t(2, 3), t(2, 3)), call(t(2, 3), t(3), 3), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("renorm", limited, call(t(2, 3), 2, 0, 1), call(t(3, 2, layout="transposed"), 3, -1, 0.5), dtypes=FLOATS,
        tolerance=4),
)  # fmt: skip
