"""How do NumPy's fast, unstable sorts give a stable order with NaN last?

Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp (sort_stable_kernel), aten/src/ATen/native/NumericUtils.h (_isnan)
Differs: PyTorch sorts values and indices together with std::stable_sort. Here both become one integer.

# Note [Sorting values with their indices]
NumPy sorts a million 64-bit integers in a tenth of the time of its stable argsort. So a number of up to 32 bits is
mapped to an unsigned one in the same order, and its index is appended in the low bits: no two of these keys are equal,
and their order is the stable one. 64-bit numbers leave no room for the index, unless their range is small; they are
argsorted directly, and where some of them are equal, their ranks with the indices appended are sorted again. Zeros are
equal whatever their signs, and so are NaNs, which come last. Small arrays use NumPy's stable argsort.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.blocks import from_last, to_last
from glasstorch.kernels.cpu.fast.blocks import strips
from glasstorch.kernels.cpu.fast.thresholds import STRIP
from glasstorch.kernels.quiet import quietly

ARGSORT_UP_TO: Final = 1 << 10  # elements up to which NumPy's stable argsort is used
UNSIGNED: Final[dict[int, Any]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
SIGNED: Final[dict[int, Any]] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def sorted_indices(array: Array, descending: bool) -> Array:
    """The indices that sort each row; equal elements keep their order, also when descending.

    The array is row-major with at least one dimension.
    """
    if array.size <= ARGSORT_UP_TO:
        return stable_indices(array, descending)
    size = array.shape[-1]
    keys = ordered_keys(array, descending)
    if keys.itemsize == 8:
        lowest = keys.min()
        if int(keys.max() - lowest) >> (64 - size.bit_length()):
            return _indices_of_wide(keys)
        keys -= lowest
    bits = size.bit_length() if keys.itemsize == 8 else 32
    together = keys.astype(np.uint64, copy=False)
    del keys
    together <<= np.uint64(bits)
    together |= np.arange(size, dtype=np.uint64)
    together.sort(-1)
    together &= np.uint64((1 << bits) - 1)
    return together.view(np.int64)


def stable_indices(array: Array, descending: bool) -> Array:
    """The plain twin of `sorted_indices`."""
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if not descending:
        return quietly(np.argsort, array, -1, "stable")
    backwards = quietly(np.argsort, np.flip(array, -1), -1, "stable")
    indices: Array = array.shape[-1] - 1 - np.flip(backwards, -1)
    return indices


def _indices_of_wide(keys: Array) -> Array:
    """The sorting indices of unsigned 64-bit keys."""
    indices = np.argsort(keys, -1)
    in_order = picked(keys, indices)
    differ = in_order[..., 1:] != in_order[..., :-1]
    if differ.all():
        return indices
    ranks = np.zeros(keys.shape, np.uint64)
    np.cumsum(differ, -1, out=ranks[..., 1:])
    ranks <<= np.uint64(32)
    ranks |= indices.view(np.uint64)
    ranks.sort(-1)
    ranks &= np.uint64(0xFFFFFFFF)
    return ranks.view(np.int64)


def picked_along(
    array: Array, axis: int, count: int, indices_of: Callable[[Array], Array], into: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """`count` elements of each line along an axis, at the indices that a function returns, and the indices.

    Many lines are cut into strips to keep intermediates small. Both results are written into the given arrays, if any.
    """
    if into is None and (array.size <= STRIP or array.ndim == 1):
        rows = np.ascontiguousarray(to_last(array, axis))
        found = indices_of(rows)
        return from_last(picked(rows, found), axis), from_last(found, axis)
    shape = (*array.shape[:axis], count, *array.shape[axis + 1 :])
    values, indices = into or (np.empty(shape, array.dtype), np.empty(shape, np.int64))
    for strip in strips(array, axis):
        rows = np.ascontiguousarray(to_last(array[strip], axis))
        found = indices_of(rows)
        at = (*strip[:axis], slice(count), *strip[axis + 1 :])
        values[at] = from_last(picked(rows, found), axis)
        indices[at] = from_last(found, axis)
    return values, indices


def picked(array: Array, indices: Array) -> Array:
    """The elements of a row-major array at indices along its last dimension."""
    if array.ndim > 1:
        before = array.shape[:-1]
        indices = indices + array.shape[-1] * np.arange(prod(before)).reshape(*before, 1)
    return array.reshape(-1).take(indices)


def ordered_keys(array: Array, descending: bool = False) -> Array:
    """Unsigned integers as wide as the elements and in the same order, in a fresh row-major array."""
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
    """The bits of negative numbers inverted, and the sign bit of positive ones set."""
    bits: Array = np.array(array, order="C").view(signed)
    bits[bits == signed(-top)] = 0  # -0.0
    infinity = np.array(np.inf, array.dtype).view(signed)
    magnitude = bits & signed(top - 1)
    bits[magnitude > infinity] = signed(top - 1)  # NaN
    bits ^= (bits >> signed(8 * array.dtype.itemsize - 1)) | signed(-top)
    return bits.view(UNSIGNED[array.dtype.itemsize])
