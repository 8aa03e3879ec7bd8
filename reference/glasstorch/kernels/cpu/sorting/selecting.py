"""How are medians, k-th, top-k and most frequent elements found on the CPU?

NaN counts as larger than everything. Which of several equal elements is found says Note [Equal elements].

Mirrors: aten/src/ATen/native/Sorting.cpp (kthvalue_out_impl_cpu, median_impl, median_with_indices_impl),
    aten/src/ATen/native/TopKImpl.h (topk_impl_loop), cpu/TensorCompareKernel.cpp (mode_kernel_impl)
Differs: NumPy sorts or partitions whole lines.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_, check_implemented
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.reductions.sums import UNORDERED
from glasstorch.kernels.cpu.sorting import equal_elements as equal
from glasstorch.kernels.cpu.sorting.sort import CPU, picked, picked_along, sorted_indices
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Outs, finish, finish_pair, structured
from glasstorch.operators.shapes.sorting import selecting as shapes

NO_BOOL = UNORDERED | {bool_}


def selected(
    name: str, self: Tensor, dim: int, keepdim: bool, out: Outs, indices_of: Callable[[Array, bool], Array]
) -> tuple[Any, ...]:
    """Elements of each line and their indices, which a function finds, given rows and whether PyTorch is followed."""
    if not self._shape:
        return finish_pair(name, self.array().copy(), np.array(0), self.dtype, out)
    d = wrap_dim(dim, len(self._shape))
    followed = self.numel() <= equal.FOLLOWED_UP_TO
    values, indices = picked_along.run(self.array(), d, lambda rows: indices_of(rows, followed))
    if not keepdim:
        values, indices = values.squeeze(d), indices.squeeze(d)
    return finish_pair(name, values, indices, self.dtype, out)


@structured(CPU, "kthvalue")
def kthvalue(keys: int, self: Tensor, k: int, dim: int, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
    """The kernel of `kthvalue`."""
    shapes.kthvalue(self, k, dim, keepdim)
    if self._shape:
        check_implemented("kthvalue_cpu", self.dtype, NO_BOOL)
    return selected("kthvalue", self, dim, keepdim, out, partial(kth_indices.run, rank=k - 1))


@slot
def kth_indices(rows: Array, followed: bool, rank: int) -> Array:
    """The index of the element of a rank in each row: the first of equal ones, or PyTorch's choice."""
    if followed:
        return equal.follow(equal.ranks(rows), rank + 1, lambda keys: equal.quick_select(keys, rank))[..., rank:]
    rows = widened(rows)
    kth = quietly(np.partition, rows, rank, -1)[..., rank : rank + 1]
    return np.asarray(((rows == kth) | ((rows != rows) & (kth != kth))).argmax(-1, keepdims=True))


def register_median(name: str, ignore_nan: bool) -> None:
    """Register `median` and `median.dim`, where NaN wins, or `nanmedian` and `nanmedian.dim`, which ignore it."""

    @structured(CPU, name)
    def median(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        if 0 in self._shape:
            return finish(np.float32(np.nan), self.dtype, out)  # cast to an integer where needed
        check_implemented("median_cpu", self.dtype, NO_BOOL)
        array = widened(self.array().ravel("K"))
        missing = np.count_nonzero(array != array) if array.dtype.kind == "f" else 0
        numbers = array.size - missing
        rank = numbers if missing and not (ignore_nan and numbers) else (numbers - 1) // 2
        return finish(quietly(np.partition, array, rank)[rank], self.dtype, out)

    @structured(CPU, f"{name}.dim")
    def median_dim(keys: int, self: Tensor, dim: int, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
        shapes.median_dim(self, dim, keepdim)
        check_implemented("median_out", self.dtype, NO_BOOL)
        return selected(f"{name}.dim", self, dim, keepdim, out, lambda rows, _: middle_indices.run(rows, ignore_nan))


@slot
def middle_indices(rows: Array, ignore_nan: bool) -> Array:
    """The index of each row's lower median in a stable order."""
    numbers = np.count_nonzero(rows == rows, -1, keepdims=True)
    nan_wins = (numbers < rows.shape[-1]) & ~(ignore_nan & (numbers > 0))
    return picked.run(sorted_indices.run(rows, False), np.where(nan_wins, numbers, (numbers - 1) // 2))


@structured(CPU, "mode")
def mode(keys: int, self: Tensor, dim: int, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
    """The kernel of `mode`: of several equally frequent elements the smallest; each NaN counts as distinct."""
    shapes.mode(self, dim, keepdim)
    if self._shape and self.numel():
        check_implemented("mode_cpu", self.dtype, UNORDERED)
    return selected("mode", self, dim, keepdim, out, mode_indices)


def mode_indices(rows: Array, followed: bool) -> Array:
    """Where the last of the most frequent elements of each row stands in order."""
    size = rows.shape[-1]
    if followed:
        order = equal.follow(equal.ranks(rows), size, equal.unstable_sort)
    else:
        order = sorted_indices.run(rows, False)
    in_order = picked.run(rows, order)
    starts = np.zeros(rows.shape, np.int64)  # where the run of equal elements begins
    starts[..., 1:] = np.where(in_order[..., 1:] != in_order[..., :-1], np.arange(1, size), 0)
    ends = (np.arange(size) - np.maximum.accumulate(starts, -1)).argmax(-1, keepdims=True)
    return picked.run(order, ends)


@structured(CPU, "topk")
def topk(keys: int, self: Tensor, k: int, dim: int, largest: bool, sorted: bool, out: Outs = None) -> tuple[Any, ...]:
    """The kernel of `topk`. Without `sorted`, small tensors have PyTorch's order, and large ones are sorted anyway."""
    shapes.topk(self, k, dim, largest, sorted)
    if self.dtype is bool_:
        raise DtypeError("topk does not support bool dtypes on CPU")
    if self.dtype.is_complex:
        raise DtypeError(" topk does not support complex dtypes on CPU")
    if self._shape:
        check_implemented("topk_cpu", self.dtype, UNORDERED)
    return selected("topk", self, dim, True, out, partial(first_indices.run, k=k, largest=largest, sorted=sorted))


@slot
def first_indices(rows: Array, followed: bool, k: int, largest: bool, sorted: bool) -> Array:
    """The first k of `sorted_indices`, or PyTorch's choice."""
    if k and followed:
        return equal.follow(equal.ranks(rows, largest), k, lambda keys: equal.topk(keys, k, sorted))
    return sorted_indices.run(rows, largest)[..., :k]


register_median("median", False)
register_median("nanmedian", True)
