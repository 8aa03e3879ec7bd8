"""How are the unique elements of a tensor found on the CPU?

Mirrors: aten/src/ATen/native/Unique.cpp (_unique2_cpu, unique_dim_cpu, unique_consecutive_cpu)
Differs: NumPy sorts; PyTorch hashes where sorted=False, but its CPU results are sorted too.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, from_array
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, check_implemented, int64
from glasstorch.core.errors import ShapeError
from glasstorch.core.geometry import existing_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import finish, widened
from glasstorch.kernels.cpu.sorting.ordering import sorted_indices
from glasstorch.kernels.quiet import quietly

CPU = KernelTable("CPU")

# unique ---------------------------------------------------------------------------------------------------------

NOTHING: Array = np.empty(0, np.int64)
REFUSED = COMPLEX_DTYPES | FLOAT8


@CPU.impl("_unique2")
def unique(
    keys: int, self: Tensor, sorted: bool, return_inverse: bool, return_counts: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Always sorted; outputs that were not requested are empty tensors."""
    check_implemented("unique", self.dtype, REFUSED)
    array = self.array().reshape(-1)
    wide = widened(array)
    order = sorted_indices(np.ascontiguousarray(wide), False) if return_inverse else None
    in_order = quietly(np.sort, wide) if order is None else wide.take(order)
    return runs(in_order, self, order, return_inverse, return_counts)


def runs(
    array: Array, self: Tensor, order: Array | None, return_inverse: bool, return_counts: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The first of each run of equal elements, the run number of each element, and the lengths of the runs.

    `order` gives the indices of the elements before sorting.
    """
    starts = np.ones(array.size, bool)
    quietly(np.not_equal, array[1:], array[:-1], out=starts[1:])
    inverse = counts = NOTHING
    if return_inverse:
        number = np.cumsum(starts) - 1
        inverse = number if order is None else np.empty_like(number)
        if order is not None:
            inverse[order] = number
        inverse = inverse.reshape(self._shape)
    if return_counts:
        counts = lengths(starts)
    return finish(array[starts], self.dtype, None), finish(inverse, int64, None), finish(counts, int64, None)


def lengths(starts: Array) -> Array:
    """The lengths of the runs that begin where `starts` is true."""
    return np.diff(np.flatnonzero(np.append(starts, True))) if starts.size else NOTHING


@CPU.impl("unique_consecutive")
def unique_consecutive(
    keys: int, self: Tensor, return_inverse: bool, return_counts: bool, dim: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The elements that differ from the one before; outputs that were not requested are empty tensors."""
    if dim is not None:
        return unique_dim_consecutive(keys, self, dim, return_inverse, return_counts)
    check_implemented("unique", self.dtype, REFUSED)
    return runs(self.array().reshape(-1), self, None, return_inverse, return_counts)


@CPU.impl("unique_dim_consecutive")
def unique_dim_consecutive(
    keys: int, self: Tensor, dim: int, return_inverse: bool, return_counts: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """As `unique_consecutive`, for the slices of a tensor along a dimension; counts and inverse are always computed."""
    axis = selected_dim(self, dim)
    check_implemented("unique_dim", self.dtype, REFUSED)
    parts = np.ascontiguousarray(np.moveaxis(self.array(), axis, 0))
    size = len(parts)
    starts = np.ones(size, bool)
    flat = parts.reshape(size, -1) if parts.size else np.empty((size, 0))
    quietly(np.any, quietly(np.not_equal, flat[1:], flat[:-1]), 1, out=starts[1:])
    inverse = np.cumsum(starts) - 1
    counts = lengths(starts)
    return (
        from_array(np.moveaxis(parts[starts], 0, axis), self.dtype),
        finish(inverse, int64, None),
        finish(counts, int64, None),
    )


def selected_dim(self: Tensor, dim: int) -> int:
    """The dimension, counted from the front; refused where the slices along it are empty."""
    axis = existing_dim(dim, self.dim())
    if any(size == 0 for d, size in enumerate(self._shape) if d != axis):
        raise ShapeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return axis


@CPU.impl("unique_dim")
def unique_dim(
    keys: int, self: Tensor, dim: int, sorted: bool, return_inverse: bool, return_counts: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """As `unique`, for the slices of a tensor along a dimension; counts and inverse are always computed."""
    axis = selected_dim(self, dim)
    check_implemented("unique_dim", self.dtype, REFUSED)
    array = self.array()
    values, inverse, counts = np.unique(widened(array), False, True, True, axis, equal_nan=False)
    values = values.astype(array.dtype)
    parts = np.ascontiguousarray(np.moveaxis(values, axis, 0))  # contiguous slices, as in PyTorch
    return (
        from_array(np.moveaxis(parts, 0, axis), self.dtype),
        finish(inverse.reshape(-1), int64, None),
        finish(counts, int64, None),
    )
