"""How do NumPy's fastest sorts, which are not stable, give a stable order with NaN last?

Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp (sort_stable_kernel), aten/src/ATen/native/NumericUtils.h (_isnan)
Differs: PyTorch sorts values and indices side by side with std::stable_sort. Here both become one integer.

# Note [Sorting values with their places]
NumPy sorts a million integers of 64 bits in a tenth of the time that its stable argsort takes. So a number of up to 32
bits is mapped to an unsigned one in the same order and put in front of its place: no two of these keys are equal, and
their order is the stable one. Numbers of 64 bits leave no room for the place, unless they lie close together; they are
argsorted as they are, and where some of them are equal their ranks are put in front of their places and sorted again.
Two zeros are equal whatever their signs, and so are two NaNs, which stand behind everything. Small arrays are not worth
the trouble: NumPy's stable argsort orders them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.blocks import STRIP, from_last, strips, to_last
from glasstorch.kernels.quiet import quietly

SMALL: Final = 1 << 10  # elements
UNSIGNED: Final[dict[int, Any]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
SIGNED: Final[dict[int, Any]] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def sorted_places(array: Array, descending: bool) -> Array:
    """Where the smallest, second smallest ... elements of each row stand; equal ones keep their order, descending too.

    The array has at least one dimension and lies in memory row after row.
    """
    if array.size <= SMALL:
        return stable_places(array, descending)
    size = array.shape[-1]
    keys = ordered_keys(array, descending)
    if keys.itemsize == 8:
        lowest = keys.min()
        if int(keys.max() - lowest) >> (64 - size.bit_length()):
            return _places_of_wide(keys)
        keys -= lowest
    bits = size.bit_length() if keys.itemsize == 8 else 32
    together = keys.astype(np.uint64, copy=False)
    del keys
    together <<= np.uint64(bits)
    together |= np.arange(size, dtype=np.uint64)
    together.sort(-1)
    together &= np.uint64((1 << bits) - 1)
    return together.view(np.int64)


def stable_places(array: Array, descending: bool) -> Array:
    """The plain twin of `sorted_places`."""
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if not descending:
        return quietly(np.argsort, array, -1, "stable")
    backwards = quietly(np.argsort, np.flip(array, -1), -1, "stable")
    places: Array = array.shape[-1] - 1 - np.flip(backwards, -1)
    return places


def _places_of_wide(keys: Array) -> Array:
    """The places of unsigned keys of 64 bits."""
    places = np.argsort(keys, -1)
    in_order = picked(keys, places)
    differ = in_order[..., 1:] != in_order[..., :-1]
    if differ.all():
        return places
    ranks = np.zeros(keys.shape, np.uint64)
    np.cumsum(differ, -1, out=ranks[..., 1:])
    ranks <<= np.uint64(32)
    ranks |= places.view(np.uint64)
    ranks.sort(-1)
    ranks &= np.uint64(0xFFFFFFFF)
    return ranks.view(np.int64)


def picked_along(
    array: Array, axis: int, count: int, places_of: Callable[[Array], Array], into: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """The elements, `count` of each line along an axis, at the places that a function names for some rows; the places.

    Many lines are cut into strips, so that what is computed on the way stays small. Both are written into the arrays
    that are given, if any.
    """
    if into is None and (array.size <= STRIP or array.ndim == 1):
        rows = np.ascontiguousarray(to_last(array, axis))
        found = places_of(rows)
        return from_last(picked(rows, found), axis), from_last(found, axis)
    shape = (*array.shape[:axis], count, *array.shape[axis + 1 :])
    values, places = into or (np.empty(shape, array.dtype), np.empty(shape, np.int64))
    for strip in strips(array, axis):
        rows = np.ascontiguousarray(to_last(array[strip], axis))
        found = places_of(rows)
        at = (*strip[:axis], slice(count), *strip[axis + 1 :])
        values[at] = from_last(picked(rows, found), axis)
        places[at] = from_last(found, axis)
    return values, places


def picked(array: Array, places: Array) -> Array:
    """The elements at places along the last dimension of an array that lies in memory row after row."""
    if array.ndim > 1:
        before = array.shape[:-1]
        places = places + array.shape[-1] * np.arange(prod(before)).reshape(*before, 1)
    return array.reshape(-1).take(places)


def ordered_keys(array: Array, descending: bool = False) -> Array:
    """Unsigned integers as wide as the elements, in the order of sorting: fresh memory, row after row."""
    width = array.dtype.itemsize
    unsigned, top = UNSIGNED[width], 1 << (8 * width - 1)
    if array.dtype.kind in "ub":
        keys = array.astype(unsigned)
    elif array.dtype.kind == "i":
        keys = array.astype(SIGNED[width]).view(unsigned)
        keys ^= unsigned(top)
    else:
        keys = _keys_of_floats(array, SIGNED[width], top)
    return np.invert(keys, out=keys) if descending else keys


def _keys_of_floats(array: Array, signed: Any, top: int) -> Array:
    """The bits of a negative number turned round, the sign of a positive one set."""
    bits: Array = np.array(array, order="C").view(signed)
    bits[bits == signed(-top)] = 0  # -0.0
    infinity = np.array(np.inf, array.dtype).view(signed)
    magnitude = bits & signed(top - 1)
    bits[magnitude > infinity] = signed(top - 1)  # NaN
    bits ^= (bits >> signed(8 * array.dtype.itemsize - 1)) | signed(-top)
    return bits.view(UNSIGNED[array.dtype.itemsize])
