"""How are elements searched, selected, counted and sorted?

Mirrors: nothing in torch; the standard's indexing, searching and sorting functions
Differs: every sort is stable.
"""

from __future__ import annotations

from typing import Any, Literal

from glasstorch.array_api._scalars import Array, Axis, axes, number_like, pair
from glasstorch.core.dtype import Number, bool_, int64
from glasstorch.operators.generated import functions as f


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the largest element; the first of equal ones."""
    return f.argmax(x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The index of the smallest element; the first of equal ones."""
    return f.argmin(x, axis, keepdims)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements sorted along a dimension."""
    values: Array = f.sort(x, stable=stable, dim=axis, descending=descending)[0]
    return values


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort the elements along a dimension."""
    return f.argsort(x, stable=stable, dim=axis, descending=descending)


def searchsorted(
    x1: Array,
    x2: Array | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Array | None = None,
) -> Array:
    """The indices at which the elements of x2 would be inserted into the sorted vector x1."""
    values = x2 if isinstance(x2, Array) else number_like(x2, x1)
    sequence, values = pair(x1, values)
    return f.searchsorted(sequence, values.contiguous(), side=side, sorter=sorter)


def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The number of nonzero elements over dimensions."""
    dims = axes(axis, x.ndim)
    found = f.ne(x, 0) if x.dtype is not bool_ else x
    return f.sum(found, dims, keepdims) if dims else found.to(int64)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """For each dimension the indices of the nonzero elements."""
    if not x.ndim:
        raise ValueError("nonzero: an array of 0 dimensions has no indices; expected at least 1 dimension")
    return tuple(f.unbind(f.nonzero(x), 1))


def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """The slices of an array at these indices of a dimension, as a copy."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(
                f"take: axis must be given for an array of {x.ndim} dimensions; only with one it may be None"
            )
        axis = 0
    size = x.shape[axis]
    wrapped = f.where(f.lt(indices, 0), indices + size, indices)
    return f.index_select(x, axis, wrapped)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """The elements at these indices along a dimension, such as those that argmax or argsort returns."""
    size = x.shape[axis]
    wrapped = f.where(f.lt(indices, 0), indices + size, indices)
    return f.take_along_dim(x, wrapped.to(int64), axis)


def where(condition: Array, x1: Array | Number, x2: Array | Number, /) -> Array:
    """x1 where the condition holds, x2 elsewhere."""
    sides: Any = x1, x2
    if isinstance(x1, Array) or isinstance(x2, Array):
        sides = pair(x1, x2)
    return f.where(condition, *sides)
