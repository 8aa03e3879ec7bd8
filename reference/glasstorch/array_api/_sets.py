"""Which elements of an array are unique, and which occur in another array?

Mirrors: nothing in torch; the standard's set functions
Differs: complex numbers are ordered by their real parts, then by the imaginary ones; torch refuses them.
"""

from __future__ import annotations

from typing import NamedTuple

from glasstorch.array_api._scalars import Array, number_like, pair
from glasstorch.core.dtype import bool_, int64, uint8, uint16, uint32, uint64
from glasstorch.operators.generated import functions as f


class UniqueAllResult(NamedTuple):
    """The unique values, the index of the first of each, each element's index among them, and their counts."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The unique values and how often each occurs."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The unique values and the index of each element among them."""

    values: Array
    inverse_indices: Array


def unique_all(x: Array, /) -> UniqueAllResult:
    """The sorted unique values with first indices, inverse indices and counts; every NaN is unique."""
    values, inverse, counts = _unique(x)
    order = f.argsort(inverse.reshape(-1), stable=True)
    first = f.index_select(order, 0, f.cumsum(counts, 0) - counts)
    return UniqueAllResult(values, first, inverse, counts)


def unique_counts(x: Array, /) -> UniqueCountsResult:
    """The sorted unique values and how often each occurs."""
    values, _, counts = _unique(x)
    return UniqueCountsResult(values, counts)


def unique_inverse(x: Array, /) -> UniqueInverseResult:
    """The sorted unique values and the index of each element among them."""
    values, inverse, _ = _unique(x)
    return UniqueInverseResult(values, inverse)


def unique_values(x: Array, /) -> Array:
    """The sorted unique values."""
    return _unique(x)[0]


def _unique(x: Array) -> tuple[Array, Array, Array]:
    if not x.dtype.is_complex:
        values, inverse, counts = f._unique2(x, True, True, True)
        return values, inverse, counts
    parts = f.view_as_real(f.resolve_conj(x)).reshape([-1, 2])
    values, inverse, counts = f.unique_dim(parts, 0, True, True, True)
    return f.view_as_complex(values.contiguous()), inverse.reshape(x.shape), counts


def isin(x1: Array | int, x2: Array | int, /, *, invert: bool = False) -> Array:
    """Whether each element of x1 is among those of x2."""
    if not isinstance(x1, Array) and isinstance(x2, Array):
        x1 = number_like(x1, x2)
    elements, among = pair(x1, x2)
    if elements.dtype.is_complex:  # complex numbers cannot be sorted: all pairs are compared
        return f.eq(elements.unsqueeze(-1), among.reshape(-1)).any(-1).__xor__(invert)
    return f.isin(_sortable(elements), _sortable(among), invert=invert)


def _sortable(x: Array) -> Array:
    """Bool and unsigned integers cast to a dtype that `isin` takes, with the same equalities."""
    if x.dtype is uint64:
        return x.view(int64)
    return x.to({bool_: uint8, uint16: int64, uint32: int64}.get(x.dtype, x.dtype))
