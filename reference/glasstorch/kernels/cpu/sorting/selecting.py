"""How are medians, k-th, top-k and most frequent elements found on the CPU?

Mirrors: aten/src/ATen/native/Sorting.cpp (kthvalue_out_impl_cpu, median_impl, median_with_indices_impl),
    aten/src/ATen/native/TopKImpl.h (topk_impl_loop), cpu/TensorCompareKernel.cpp (mode_kernel_impl)
Differs: NumPy's partition selects. For ties, see Note [Equal elements].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_, check_implemented
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import UNORDERED, finish, finish_pair, widened
from glasstorch.kernels.cpu.sorting.equal_elements import (
    FOLLOWED_UP_TO,
    follow,
    nth_element,
    partial_sort,
    quick_select,
    sorted_by_topk,
    unstable_sort,
)
from glasstorch.kernels.cpu.sorting.ordering import picked, picked_along, sorted_indices
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.sorting import selecting as shapes

CPU = KernelTable("CPU")

NO_BOOL = UNORDERED | {bool_}
Outs = tuple[Tensor, Tensor] | None


def reduced(
    name: str, self: Tensor, dim: int, keepdim: bool, out: Outs, index_of: Callable[[Array], Array]
) -> tuple[Any, ...]:
    """One element of each row, at the index that a function returns for some rows, and the indices."""
    d = wrap_dim(dim, len(self._shape))
    values, indices = picked_along(self.array(), d, 1, lambda rows: index_of(rows)[..., None])
    if not keepdim:
        values, indices = values.squeeze(d), indices.squeeze(d)
    return finish_pair(name, values, indices, self.dtype, out)


# One element of each row ----------------------------------------------------------------------------------------


def kthvalue(keys: int, self: Tensor, k: int, dim: int, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
    """The kernel of `kthvalue`: NaN counts as larger than everything."""
    shapes.kthvalue(self, k, dim, keepdim)
    if not self._shape:
        return finish_pair("kthvalue", self.array().copy(), np.array(0), self.dtype, out)
    check_implemented("kthvalue_cpu", self.dtype, NO_BOOL)

    def index_of(rows: Array) -> Array:
        wide = widened(rows)
        return kthvalue_indices(wide, ranked(wide, k - 1), k - 1)

    return reduced("kthvalue", self, dim, keepdim, out, index_of)


def ranked(rows: Array, rank: int) -> Array:
    """The element of a rank in each row."""
    array: Array = quietly(np.partition, rows, rank, -1)[..., rank]
    return array


def kthvalue_indices(rows: Array, values: Array, rank: int) -> Array:
    """The indices of the values of a rank; for rows with ties see Note [Equal elements]."""
    equal = where_equal(rows, values)
    indices = np.asarray(equal.argmax(-1))
    if rows.size <= FOLLOWED_UP_TO:
        several = np.count_nonzero(equal, -1) > 1
        if several.any():
            indices[several] = follow(rows, False, several, quick_select, rank)[:, rank]
    return indices


def where_equal(rows: Array, values: Array) -> Array:
    """A mask of the elements equal to their row's value; NaN equals NaN."""
    equal: Array = rows == values[..., None]
    if rows.dtype.kind == "f" and (missing := np.isnan(values)).any():
        equal[missing] = np.isnan(rows[missing])
    return equal


def median_dim(name: str, ignore_nan: bool) -> Any:
    """The kernel of `median.dim`, where the first NaN of a row wins, or of `nanmedian.dim`, which ignores NaN."""

    def kernel(keys: int, self: Tensor, dim: int, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
        shapes.median_dim(self, dim, keepdim)
        check_implemented("median_out", self.dtype, NO_BOOL)
        if not self._shape:
            return finish_pair(name, self.array().copy(), np.array(0), self.dtype, out)
        return reduced(name, self, dim, keepdim, out, index_of)

    def index_of(rows: Array) -> Array:
        wide = widened(rows)
        return middle_indices(wide, middles(wide, ignore_nan), ignore_nan)

    return kernel


def middles(rows: Array, ignore_nan: bool) -> Array:
    """The lower median of each row: NaN if it has one, or with `ignore_nan` that of the other elements, if any."""
    found = ranked(rows, (rows.shape[-1] - 1) // 2)
    if rows.dtype.kind != "f":
        return found
    missing = np.isnan(rows)
    concerned = missing.any(-1)
    if not concerned.any():
        return found
    if not ignore_nan:
        return np.where(concerned, np.float32(np.nan), found)
    some = rows[concerned]
    found[concerned] = np.take_along_axis(np.sort(some, -1), middle_ranks(some, True)[:, None], -1)[:, 0]
    return found


def middle_indices(rows: Array, values: Array, ignore_nan: bool) -> Array:
    """The index of the median in a stable order, which need not be the first of its value; for NaN the first."""
    equal = where_equal(rows, values)
    before = middle_ranks(rows, ignore_nan) - np.count_nonzero(rows < values[..., None], -1)
    if rows.dtype.kind == "f":
        before = np.where(np.isnan(values), 0, before)
    if not before.any():
        return np.asarray(equal.argmax(-1))
    return np.asarray((np.cumsum(equal, -1) > before[..., None]).argmax(-1))


def middle_ranks(rows: Array, ignore_nan: bool) -> Array:
    """The rank of each row's lower median; with `ignore_nan`, among the elements that are not NaN."""
    counts: Any = rows.shape[-1]
    if ignore_nan and rows.dtype.kind == "f":
        counts = counts - np.count_nonzero(np.isnan(rows), -1)
    ranks: Array = np.maximum(np.asarray(counts) - 1, 0) // 2
    return ranks


def median_all(ignore_nan: bool) -> Any:
    """The kernel of `median` or `nanmedian`; for no elements it is NaN, cast to an integer dtype where needed."""

    def kernel(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if 0 in self._shape:
            return finish(np.float32(np.nan), self.dtype, out)
        check_implemented("median_cpu", self.dtype, NO_BOOL)
        return finish(middles(widened(self.array().ravel("K")), ignore_nan), self.dtype, out)

    return kernel


def mode(keys: int, self: Tensor, dim: int, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
    """The kernel of `mode`: of several equally frequent elements the smallest; each NaN counts as distinct."""
    shapes.mode(self, dim, keepdim)
    if not self._shape:
        return finish_pair("mode", self.array().copy(), np.array(0), self.dtype, out)
    if 0 not in self._shape:
        check_implemented("mode_cpu", self.dtype, UNORDERED)
    return reduced("mode", self, dim, keepdim, out, mode_indices)


def mode_indices(rows: Array) -> Array:
    """The sorted position of the last of the most frequent elements of each row."""
    if not rows.size:
        return np.empty(rows.shape[:-1], np.int64)
    if rows.size <= FOLLOWED_UP_TO:
        everything = np.ones(rows.shape[:-1], bool)
        order = follow(rows, False, everything, unstable_sort, 0).reshape(rows.shape)
    else:
        order = sorted_indices(rows, False)
    in_order = picked(rows, order)
    counted = np.arange(rows.shape[-1])
    starts = np.where(in_order[..., 1:] != in_order[..., :-1], counted[1:], 0)
    since = np.concatenate([np.zeros_like(order[..., :1]), np.maximum.accumulate(starts, -1)], -1)
    ends = (counted - since).argmax(-1)  # where the longest run ends
    found: Array = np.take_along_axis(order, ends[..., None], -1)[..., 0]
    return found


# Several elements of each row -----------------------------------------------------------------------------------


def topk(keys: int, self: Tensor, k: int, dim: int, largest: bool, sorted: bool, out: Outs = None) -> tuple[Any, ...]:
    """The kernel of `topk`: NaN counts as larger than everything.

    Without `sorted`, small tensors have PyTorch's order, and large ones are sorted anyway.
    """
    shapes.topk(self, k, dim, largest, sorted)
    if self.dtype is bool_:
        raise DtypeError("topk does not support bool dtypes on CPU")
    if self.dtype.is_complex:
        raise DtypeError(" topk does not support complex dtypes on CPU")
    if not self._shape:
        return finish_pair("topk", self.array().copy(), np.array(0), self.dtype, out)
    check_implemented("topk_cpu", self.dtype, UNORDERED)
    followed = self.numel() <= FOLLOWED_UP_TO

    def indices_of(rows: Array) -> Array:
        return followed_indices(rows, k, largest, sorted) if followed else first_indices(rows, k, largest)

    values, indices = picked_along(self.array(), wrap_dim(dim, len(self._shape)), k, indices_of)
    return finish_pair("topk", values, indices, self.dtype, out)


def followed_indices(rows: Array, k: int, descending: bool, sorted: bool) -> Array:
    """The first k of `sorted_indices`; for ties, or without `sorted`, PyTorch's choice."""
    first = sorted_indices(rows, descending)[..., : k + 1]
    indices = np.ascontiguousarray(first[..., :k])
    if not k:
        return indices
    few = 64 * k <= rows.shape[-1]  # then PyTorch sorts them in any case
    if sorted or few:
        chosen = picked(widened(rows), first)
        concerned = (chosen[..., 1:] == chosen[..., :-1]).any(-1)
        if chosen.dtype.kind == "f":
            concerned |= np.count_nonzero(np.isnan(chosen), -1) > 1
    else:
        concerned = np.ones(rows.shape[:-1], bool)
    if concerned.any():
        select, rank = (partial_sort, k) if few else (sorted_by_topk, k) if sorted else (nth_element, k - 1)
        indices[concerned] = follow(rows, descending, concerned, select, rank)[:, :k]
    return indices


def first_indices(rows: Array, k: int, descending: bool) -> Array:
    """The first k of `sorted_indices`; only these are sorted."""
    size = rows.shape[-1]
    if not 0 < k <= size // 4:
        return sorted_indices(rows, descending)[..., :k]
    wide = widened(rows)
    last = ranked(wide, size - k if descending else k - 1)[..., None]
    chosen = ~(wide < last) if descending else wide <= last
    if (np.count_nonzero(chosen, -1) != k).any():  # ties with the last one, or NaN
        return sorted_indices(rows, descending)[..., :k]
    indices = np.flatnonzero(chosen).reshape(*rows.shape[:-1], k) % size
    return picked(indices, sorted_indices(picked(rows, indices), descending))


structured(CPU, "kthvalue", kthvalue)
structured(CPU, "median", median_all(False))
structured(CPU, "nanmedian", median_all(True))
structured(CPU, "median.dim", median_dim("median.dim", False))
structured(CPU, "nanmedian.dim", median_dim("nanmedian.dim", True))
structured(CPU, "mode", mode)
structured(CPU, "topk", topk)
