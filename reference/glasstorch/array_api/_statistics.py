"""Which reductions and cumulative sums are there?

Mirrors: nothing in torch; the standard's statistical and utility functions
Differs: unsigned integers are summed as int64, as in torch; the standard asks for uint64.
"""

from __future__ import annotations

from collections.abc import Callable

from glasstorch.array_api._scalars import Array, Axis, axes
from glasstorch.core.dtype import BOOL, INTEGRAL, bool_, dtype, int64
from glasstorch.core.geometry import wrap_dim, wrap_dims
from glasstorch.operators.generated import functions as f


def _over(x: Array, axis: Axis, keepdims: bool, reduce: Callable[[Array, list[int], bool], Array]) -> Array:
    """A reduction over dimensions; an empty tuple reduces over none, and returns the array itself."""
    dims = axes(axis, x.ndim)
    return reduce(x, dims, keepdims) if dims else x.clone()


def sum(x: Array, /, *, axis: Axis = None, dtype: dtype | None = None, keepdims: bool = False) -> Array:
    """The sum over dimensions; integers and bool are summed as int64 unless a dtype is given."""
    dtype = _accumulated(x, dtype)
    return _over(x.to(dtype), axis, keepdims, lambda a, dims, keep: f.sum(a, dims, keep, dtype=dtype))


def prod(x: Array, /, *, axis: Axis = None, dtype: dtype | None = None, keepdims: bool = False) -> Array:
    """The product over dimensions; integers and bool are multiplied as int64 unless a dtype is given."""
    dtype = _accumulated(x, dtype)

    def product(a: Array, dims: list[int], keep: bool) -> Array:
        for d in sorted(wrap_dims(dims, a.ndim), reverse=True):  # one after another, the last one first
            a = f.prod(a, d, keep, dtype=dtype)
        return a

    return _over(x.to(dtype), axis, keepdims, product)


def _accumulated(x: Array, given: dtype | None) -> dtype:
    if given is not None:
        return given
    return int64 if x.dtype.category in (BOOL, INTEGRAL) else x.dtype


def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean over dimensions."""
    return _over(x, axis, keepdims, f.mean)


def var(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance over dimensions; the divisor is the number of elements minus `correction`."""
    dims = axes(axis, x.ndim)
    if not dims:  # of single elements: 0, or NaN
        return f.var(x.unsqueeze(0), 0, correction=correction)
    return f.var(x, dims, correction=correction, keepdim=keepdims)


def std(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The square root of the variance."""
    return f.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest element over dimensions; NaN propagates."""
    return _over(x, axis, keepdims, f.amax)


def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The smallest element over dimensions; NaN propagates."""
    return _over(x, axis, keepdims, f.amin)


def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements over dimensions are true; NaN counts as true."""
    return _over(x.to(bool_), axis, keepdims, f.all)


def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element over dimensions is true."""
    return _over(x.to(bool_), axis, keepdims, f.any)


# Along a dimension ----------------------------------------------------------------------------------------------


def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Array:
    """The cumulative sums along a dimension; with `include_initial`, after a leading 0."""
    return _cumulative("cumulative_sum", f.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: bool = False
) -> Array:
    """The cumulative products along a dimension; with `include_initial`, after a leading 1."""
    return _cumulative("cumulative_prod", f.cumprod, 1, x, axis, dtype, include_initial)


def _cumulative(
    name: str,
    scan: Callable[..., Array],
    start: int,
    x: Array,
    axis: int | None,
    dtype: dtype | None,
    include_initial: bool,
) -> Array:
    if axis is None and x.ndim != 1:
        raise ValueError(
            f"{name}: axis must be given for an array of {x.ndim} dimensions; only with one it may be None"
        )
    if not x.ndim:
        raise ValueError(f"{name}: an array of 0 dimensions cannot be accumulated; expected at least 1 dimension")
    d = wrap_dim(0 if axis is None else axis, x.ndim)
    result = scan(x, d, dtype=dtype)
    if not include_initial:
        return result
    shape = [*result.shape[:d], 1, *result.shape[d + 1 :]]
    return f.cat([f.full(shape, start, dtype=result.dtype, device=result.device), result], d)


def diff(
    x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None, append: Array | None = None
) -> Array:
    """The n-th discrete difference along a dimension."""
    return f.diff(x, n, axis, prepend, append)
