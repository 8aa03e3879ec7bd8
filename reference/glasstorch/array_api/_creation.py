"""How are arrays made?

Mirrors: nothing in torch; the standard's creation functions
"""

from __future__ import annotations

from typing import Any, Literal

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import Number
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.asarray import asarray as _asarray
from glasstorch.outside_data.foreign_memory import from_dlpack as _from_dlpack

Array = Tensor
Shape = int | tuple[int, ...]


def _sizes(shape: Shape) -> list[int]:
    return [shape] if isinstance(shape, int) else list(shape)


def asarray(
    obj: Any, /, *, dtype: Dtype | None = None, device: Device | None = None, copy: bool | None = None
) -> Array:
    """An array from an array-like object; it must (True), may (None) or must not (False) be a copy, as `copy` says."""
    return _asarray(obj, dtype=dtype, device=device, copy=copy)


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Array:
    """Another library's array over the same memory."""
    return _from_dlpack(x, device=device, copy=copy)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
) -> Array:
    """Evenly spaced numbers from `start` (0 if only one bound is given) to `stop`, exclusive."""
    if stop is None:
        start, stop = 0, start
    numbers = [number for number in (start, stop, step) if isinstance(number, float)]
    wanted = dtype if dtype is not None or not numbers else _default_float()
    if (step > 0 and stop < start) or (step < 0 and stop > start):  # torch refuses bounds that make an empty array here
        stop = start
    return f.arange(start, stop, step, dtype=wanted, device=device)


def _default_float() -> Dtype:
    from glasstorch.core.dtype import get_default_dtype

    return get_default_dtype()


def linspace(
    start: Number,
    stop: Number,
    /,
    num: int,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> Array:
    """`num` evenly spaced numbers from `start` to `stop`, with or without the endpoint."""
    if endpoint:
        return f.linspace(start, stop, num, dtype=dtype, device=device)
    return f.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def empty(shape: Shape, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An uninitialised array."""
    return f.empty(_sizes(shape), dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array filled with 0."""
    return f.zeros(_sizes(shape), dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array filled with 1."""
    return f.ones(_sizes(shape), dtype=dtype, device=device)


def full(shape: Shape, fill_value: Number, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array filled with one value; by default it has the value's dtype."""
    return f.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def empty_like(x: Array, /, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An uninitialised array of the same shape."""
    return f.empty_like(x, dtype=dtype, device=device)


def zeros_like(x: Array, /, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array of the same shape filled with 0."""
    return f.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Array, /, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array of the same shape filled with 1."""
    return f.ones_like(x, dtype=dtype, device=device)


def full_like(x: Array, /, fill_value: Number, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array of the same shape filled with one value."""
    return f.full_like(x, fill_value, dtype=dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Dtype | None = None,
    device: Device | None = None,
) -> Array:
    """A matrix with ones on the diagonal that is `k` above the main one, and zeros elsewhere."""
    result = f.zeros([n_rows, n_rows if n_cols is None else n_cols], dtype=dtype, device=device)
    if -result.shape[0] < k < result.shape[1]:
        f.diagonal(result, k).fill_(1)
    return result


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> list[Array]:
    """Coordinate grids: each vector expanded, as a view, along a dimension of its own."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', got {indexing!r}")
    return list(f.meshgrid(list(arrays), indexing=indexing)) if arrays else []


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangle of each matrix, up to diagonal `k`, and 0 above."""
    return f.tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangle of each matrix, from diagonal `k` on, and 0 below."""
    return f.triu(x, k)
