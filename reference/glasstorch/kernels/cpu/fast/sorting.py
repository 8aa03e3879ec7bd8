"""How are many elements sorted, and elements of a rank selected, fast?

# Note [Sorting values with their indices]
NumPy sorts a million 64-bit integers in a tenth of the time of its stable argsort. So a number of up to 32 bits is
mapped to an unsigned one in the same order, and its index is appended in the low bits: no two of these keys are equal,
and their order is the stable one. 64-bit numbers leave no room for the index, unless their range is small; they are
argsorted directly, and where some of them are equal, their ranks with the indices appended are sorted again. Zeros are
equal whatever their signs, and so are NaNs, which come last. Small arrays use NumPy's stable argsort.

# Note [Selecting without sorting]
The medians of a thousand rows of a thousand floats take 3 ms by partition, and 43 by a stable argsort. It gives the
value of a rank, whose index is looked up; and where few of many elements are wanted, only these are sorted. In a small
tensor, PyTorch's algorithm is followed only on rows where several elements equal one that is selected.

Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp (sort_stable_kernel), aten/src/ATen/native/TopKImpl.h
Differs: PyTorch sorts values and indices together with std::stable_sort. Here both become one integer.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOAT8
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import from_last, strips, to_last
from glasstorch.kernels.cpu.sorting import equal_elements as equal
from glasstorch.kernels.cpu.sorting import selecting
from glasstorch.kernels.cpu.sorting import sort as plain
from glasstorch.kernels.halves import widened
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.sorting import sort as shapes

UNSIGNED: Final[dict[int, Any]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
SIGNED: Final[dict[int, Any]] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


# Sorting --------------------------------------------------------------------------------------------------------


@fast(plain.sorted_indices, when="more than 1,024 elements", benchmark="1e6: sort", exact="bits")
def sorted_indices(array: Array, descending: bool) -> Array:
    """See Note [Sorting values with their indices]."""
    if array.size <= thresholds.ARGSORT_UP_TO:
        return plain.sorted_indices.plain(array, descending)
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


@fast(plain.picked, when="always", benchmark="1e6: mode of rows", exact="bits")
def picked(array: Array, indices: Array) -> Array:
    """The elements of a row-major array, at indices into all of it."""
    if array.ndim > 1:
        before = array.shape[:-1]
        indices = indices + array.shape[-1] * np.arange(prod(before)).reshape(*before, 1)
    return array.reshape(-1).take(indices)


@fast(
    plain.picked_along,
    when="many lines, in strips",
    benchmark="1e6: sort of columns of a transposed matrix",
    exact="bits",
)
def picked_along(array: Array, axis: int, indices_of: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Lines are copied where they are not contiguous; many are cut into strips to keep intermediates small."""
    if array.size > thresholds.STRIP and array.ndim > 1:
        return picked_in_strips(array, axis, indices_of)
    rows = np.ascontiguousarray(to_last(array, axis))
    found = indices_of(rows)
    return from_last(picked(rows, found), axis), from_last(found, axis)


def picked_in_strips(
    array: Array, axis: int, indices_of: Callable[[Array], Array], into: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """Both results, which are written into the given arrays, if any."""
    for strip in strips(array, axis):
        rows = np.ascontiguousarray(to_last(array[strip], axis))
        found = indices_of(rows)
        if into is None:
            shape = (*array.shape[:axis], found.shape[-1], *array.shape[axis + 1 :])
            into = np.empty(shape, array.dtype), np.empty(shape, np.int64)
        at = (*strip[:axis], slice(None), *strip[axis + 1 :])
        into[0][at] = from_last(picked(rows, found), axis)
        into[1][at] = from_last(found, axis)
    assert into is not None, "there are no lines"
    return into


@fast(
    "sort.stable",
    when="the tensor is not row-major",
    benchmark="1e6: sort of columns of a transposed matrix",
    exact="bits",
)
def sort(
    keys: int, self: Tensor, stable: bool | None, dim: int, descending: bool, out: tuple[Tensor, Tensor] | None = None
) -> tuple[Any, ...]:
    """The results have the tensor's strides: strips are written where they belong."""
    if self._strides is None or 0 in self._shape or not self._shape or self.dtype in FLOAT8:
        return plain.sort(keys, self, stable, dim, descending)
    written = tuple(map(allocate_output, shapes.sort(self, stable, dim, descending)))
    into = written[0].array(), written[1].array()
    picked_in_strips(self.array(), wrap_dim(dim, len(self._shape)), lambda rows: sorted_indices(rows, descending), into)
    return named_result("sort.stable", written)


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


# Selecting: see Note [Selecting without sorting] ----------------------------------------------------------------


@fast(
    selecting.kth_indices,
    when="always; in a small tensor, rows are followed where several elements have the value of the rank",
    benchmark="1e6: kthvalue of 250 small tensors",
    exact="bits",
)
def kth_indices(rows: Array, followed: bool, rank: int) -> Array:
    """The first index of the value of the rank; NaN is looked for only where that is the value."""
    wide = widened(rows)
    found = where_equal(wide, ranked(wide, rank))
    indices = np.asarray(found.argmax(-1))
    if followed:
        several = np.count_nonzero(found, -1) > 1
        if several.any():
            concerned = ordered_keys(wide[several])
            indices[several] = equal.follow(concerned, rank + 1, lambda keys: equal.quick_select(keys, rank))[:, rank]
    return indices[..., None]


def ranked(rows: Array, rank: int) -> Array:
    """The element of a rank in each row."""
    array: Array = quietly(np.partition, rows, rank, -1)[..., rank]
    return array


def where_equal(rows: Array, values: Array) -> Array:
    """A mask of the elements equal to their row's value; NaN equals NaN."""
    equal: Array = rows == values[..., None]
    if rows.dtype.kind == "f" and (missing := np.isnan(values)).any():
        equal[missing] = np.isnan(rows[missing])
    return equal


@fast(selecting.middle_indices, when="always", benchmark="1e6: median of rows", exact="bits")
def middle_indices(rows: Array, ignore_nan: bool) -> Array:
    """The index of the median in a stable order, which need not be the first of its value; for NaN the first."""
    wide = widened(rows)
    ranks, values = middles(wide, ignore_nan)
    equal = where_equal(wide, values)
    before = ranks - np.count_nonzero(wide < values[..., None], -1)
    if wide.dtype.kind == "f":
        before = np.where(np.isnan(values), 0, before)
    if not before.any():
        return np.asarray(equal.argmax(-1))[..., None]
    return np.asarray((np.cumsum(equal, -1) > before[..., None]).argmax(-1))[..., None]


def middles(rows: Array, ignore_nan: bool) -> tuple[Array, Array]:
    """The rank and the value of the lower median of each row."""
    size = rows.shape[-1]
    ranks: Any = (size - 1) // 2
    found = ranked(rows, ranks)
    if rows.dtype.kind != "f":
        return ranks, found
    missing = np.isnan(rows)
    concerned = missing.any(-1)
    if not concerned.any():
        return ranks, found
    if not ignore_nan:
        return ranks, np.where(concerned, np.float32(np.nan), found)
    ranks = np.maximum(size - np.count_nonzero(missing, -1) - 1, 0) // 2
    in_order = np.sort(rows[concerned], -1)
    found[concerned] = np.take_along_axis(in_order, ranks[concerned][:, None], -1)[:, 0]
    return ranks, found


@fast(
    selecting.first_indices,
    when="a small tensor, where few rows have ties, or a large one, of which few elements are selected",
    benchmark="1e6: topk of 100",
    exact="bits",
)
def first_indices(rows: Array, followed: bool, k: int, largest: bool, sorted: bool) -> Array:
    """Only rows with ties are followed; of large ones, only what is selected is sorted."""
    size = rows.shape[-1]
    if followed:
        return followed_indices(rows, k, largest, sorted)
    if not 0 < k <= size // 4:
        return sorted_indices(rows, largest)[..., :k]
    wide = widened(rows)
    last = ranked(wide, size - k if largest else k - 1)[..., None]
    chosen = ~(wide < last) if largest else wide <= last
    if (np.count_nonzero(chosen, -1) != k).any():  # ties with the last one, or NaN
        return sorted_indices(rows, largest)[..., :k]
    indices = np.flatnonzero(chosen).reshape(*rows.shape[:-1], k) % size
    return picked(indices, sorted_indices(picked(rows, indices), largest))


def followed_indices(rows: Array, k: int, largest: bool, sorted: bool) -> Array:
    """The first k of `sorted_indices`; for ties, or without `sorted`, PyTorch's choice."""
    first = sorted_indices(rows, largest)[..., : k + 1]
    indices = np.ascontiguousarray(first[..., :k])
    if not k:
        return indices
    if sorted or 64 * k <= rows.shape[-1]:
        chosen = picked(widened(rows), first)
        concerned = (chosen[..., 1:] == chosen[..., :-1]).any(-1)
        if chosen.dtype.kind == "f":
            concerned |= np.count_nonzero(np.isnan(chosen), -1) > 1
    else:
        concerned = np.ones(rows.shape[:-1], bool)
    if concerned.any():
        of_those = ordered_keys(rows, largest)[concerned]
        indices[concerned] = equal.follow(of_those, k, lambda keys: equal.topk(keys, k, sorted))
    return indices
