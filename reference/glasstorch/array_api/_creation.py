"""How are arrays made?

Mirrors: nothing in torch; the standard's creation functions
Differs: nothing in substance.
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
    """Anything array-like as an array; `copy` says whether there must be, may be (None) or must not be a copy."""
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
    """The numbers from `start` (0 where only one bound is given) in steps up to, and without, `stop`."""
    if stop is None:
        start, stop = 0, start
    numbers = [number for number in (start, stop, step) if isinstance(number, float)]
    wanted = dtype if dtype is not None or not numbers else _default_float()
    if (step > 0 and stop < start) or (step < 0 and stop > start):  # torch refuses what is empty here
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
    """So many numbers from `start` to `stop`, equally far apart; without the endpoint if asked."""
    if endpoint:
        return f.linspace(start, stop, num, dtype=dtype, device=device)
    return f.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num]


def empty(shape: Shape, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array whose elements are not initialised."""
    return f.empty(_sizes(shape), dtype=dtype, device=device)


def zeros(shape: Shape, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array filled with 0."""
    return f.zeros(_sizes(shape), dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array filled with 1."""
    return f.ones(_sizes(shape), dtype=dtype, device=device)


def full(shape: Shape, fill_value: Number, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array filled with one value; its dtype is the value's unless given."""
    return f.full(_sizes(shape), fill_value, dtype=dtype, device=device)


def empty_like(x: Array, /, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array of the same sizes whose elements are not initialised."""
    return f.empty_like(x, dtype=dtype, device=device)


def zeros_like(x: Array, /, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array of the same sizes filled with 0."""
    return f.zeros_like(x, dtype=dtype, device=device)


def ones_like(x: Array, /, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array of the same sizes filled with 1."""
    return f.ones_like(x, dtype=dtype, device=device)


def full_like(x: Array, /, fill_value: Number, *, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """An array of the same sizes filled with one value."""
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
    """A matrix with ones on its diagonal, or on the one that lies `k` above it, and 0 elsewhere."""
    result = f.zeros([n_rows, n_rows if n_cols is None else n_cols], dtype=dtype, device=device)
    if -result.shape[0] < k < result.shape[1]:
        f.diagonal(result, k).fill_(1)
    return result


def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """Vectors spread over the grid that they span, each along a dimension of its own."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', got {indexing!r}")
    return tuple(f.meshgrid(list(arrays), indexing=indexing)) if arrays else ()


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangle of each matrix, with 0 above diagonal `k`."""
    return f.tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangle of each matrix, with 0 below diagonal `k`."""
    return f.triu(x, k)
