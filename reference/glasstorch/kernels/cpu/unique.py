"""How are the unique elements of a tensor found on the CPU?

Mirrors: aten/src/ATen/native/Unique.cpp (_unique2_cpu, unique_dim_cpu, unique_consecutive_cpu)
Differs: NumPy sorts; PyTorch hashes where sorted=False, but its CPU results are sorted too.
"""

from __future__ import annotations

from functools import cmp_to_key

import numpy as np

from glasstorch._tensor import Tensor, from_array, wrap
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, check_implemented, int64
from glasstorch.core.errors import ShapeError
from glasstorch.core.geometry import existing_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.sorting.sort import sorted_indices
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish

CPU = KernelTable("CPU")

NOTHING: Array = np.empty(0, np.int64)
REFUSED = COMPLEX_DTYPES | FLOAT8
Found = tuple[Tensor, Tensor, Tensor]


@CPU.impl("_unique2")
def unique(keys: int, self: Tensor, sorted: bool, return_inverse: bool, return_counts: bool) -> Found:
    """Always sorted; outputs that were not requested are empty tensors."""
    check_implemented("unique", self.dtype, REFUSED)
    array = widened(self.array().reshape(-1))
    if not return_inverse:
        values, inverse, counts = runs(quietly(np.sort, array), False, return_counts)
    else:
        order = sorted_indices.run(array, False)
        values, numbers, counts = runs(array.take(order), True, return_counts)
        inverse = np.empty(self._shape, np.int64)
        inverse.reshape(-1)[order] = numbers
    return finish(values, self.dtype, None), wrap(inverse, int64), wrap(counts, int64)


@CPU.impl("unique_consecutive")
def unique_consecutive(keys: int, self: Tensor, return_inverse: bool, return_counts: bool, dim: int | None) -> Found:
    """The elements that differ from the one before; outputs that were not requested are empty tensors."""
    if dim is not None:
        return unique_dim_consecutive(keys, self, dim, return_inverse, return_counts)
    check_implemented("unique", self.dtype, REFUSED)
    values, inverse, counts = runs(self.array().reshape(-1), return_inverse, return_counts)
    inverse = inverse.reshape(self._shape) if return_inverse else inverse
    return wrap(values, self.dtype), wrap(inverse, int64), wrap(counts, int64)


def runs(parts: Array, return_inverse: bool = True, return_counts: bool = True) -> tuple[Array, Array, Array]:
    """The first of each run of equal parts, the number of the run of each part, and the lengths of the runs."""
    starts = np.ones(len(parts), bool)
    differ = quietly(np.not_equal, parts[1:], parts[:-1])
    starts[1:] = differ.any(tuple(range(1, parts.ndim))) if parts.ndim > 1 else differ
    inverse = np.cumsum(starts) - 1 if return_inverse else NOTHING
    counts = np.diff(np.flatnonzero(np.append(starts, True))) if return_counts else NOTHING
    return parts[starts], inverse, counts


@CPU.impl("unique_dim")
def unique_dim(keys: int, self: Tensor, dim: int, sorted: bool, *requested: bool) -> Found:
    """As `unique`, for the slices of a tensor along a dimension; counts and inverse are always computed."""
    axis = selected_dim(self, dim)
    array = widened(self.array())
    if array.dtype.kind == "f" and np.isnan(array).any():
        return with_nan(self, axis)
    values, inverse, counts = np.unique(array, False, True, True, axis, equal_nan=False)
    parts = np.ascontiguousarray(np.moveaxis(values.astype(self.dtype.numpy), axis, 0))
    return along(self, axis, parts, inverse.reshape(-1), counts)


def with_nan(self: Tensor, axis: int) -> Found:
    """As `unique_dim`, where there are NaN: PyTorch's sort takes one as equal to everything, and leaves it in place.

    That is no order. The result is PyTorch's for up to 16 slices, which std::sort sorts by insertion.
    """
    parts = np.ascontiguousarray(np.moveaxis(self.array(), axis, 0))
    rows = widened(parts).reshape(len(parts), -1)

    def compared(a: int, b: int) -> int:
        differ = np.flatnonzero((rows[a] < rows[b]) | (rows[a] > rows[b]))
        return 0 if not differ.size else -1 if rows[a, differ[0]] < rows[b, differ[0]] else 1

    order = list(range(len(rows)))
    if len(rows) > 16:
        order.sort(key=cmp_to_key(compared))
    else:
        for i in range(1, len(rows)):
            place = 0 if compared(order[i], order[0]) < 0 else i
            while place and compared(order[i], order[place - 1]) < 0:
                place -= 1
            order.insert(place, order.pop(i))
    values, numbers, counts = runs(parts[order])
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = numbers
    return along(self, axis, values, inverse, counts)


@CPU.impl("unique_dim_consecutive")
def unique_dim_consecutive(keys: int, self: Tensor, dim: int, *requested: bool) -> Found:
    """As `unique_consecutive`, for the slices of a tensor along a dimension; counts and inverse are always computed."""
    axis = selected_dim(self, dim)
    return along(self, axis, *runs(np.ascontiguousarray(np.moveaxis(self.array(), axis, 0))))


def selected_dim(self: Tensor, dim: int) -> int:
    """The dimension, counted from the front; refused where the slices along it are empty."""
    axis = existing_dim(dim, self.dim())
    if any(size == 0 for d, size in enumerate(self._shape) if d != axis):
        raise ShapeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    check_implemented("unique_dim", self.dtype, REFUSED)
    return axis


def along(self: Tensor, axis: int, parts: Array, inverse: Array, counts: Array) -> Found:
    """The results as tensors; each slice is contiguous, as in PyTorch."""
    values = from_array(np.moveaxis(parts, 0, axis), self.dtype)
    return values, wrap(inverse, int64), wrap(counts, int64)
