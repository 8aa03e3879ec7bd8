"""How are values looked up in sorted sequences and in sets on the CPU?

Mirrors: aten/src/ATen/native/Bucketization.cpp (searchsorted_out_cpu, bucketize_out_cpu),
    aten/src/ATen/native/TensorCompare.cpp (isin_sorting, isin_default_cpu)
Differs: NumPy searches and sorts.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import Number, bool_, dtype
from glasstorch.core.errors import IndexValueError, not_implemented_for
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.pointwise.loops import ALL, EVERY, NOT_BOOL
from glasstorch.kernels.cpu.reductions.sums import finish
from glasstorch.kernels.iterator import BLOCK, op_math
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import searching as shapes
from glasstorch.operators.shapes.promotion import result_type

CPU = KernelTable("CPU")


# searchsorted ---------------------------------------------------------------------------------------------------


def searchsorted(
    keys: int,
    sorted_sequence: Tensor,
    self: Tensor,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
    out: Tensor | None = None,
) -> Tensor:
    """The kernel of `searchsorted.Tensor`: each row of values is searched for in its row of the sequence."""
    result = shapes.searchsorted(sorted_sequence, self, out_int32, right, side, sorter)
    common = result_type(sorted_sequence, self)
    if common not in NOT_BOOL and 0 not in self._shape:
        raise not_implemented_for("searchsorted_out_cpu", common)
    order = None if sorter is None else sorter.array()
    if order is not None and order.size and not ((order >= 0) & (order < order.shape[-1])).all():
        raise IndexValueError("torch.searchsorted(): sorter index out of range")
    if 0 in self._shape:
        return finish(np.empty(self._shape), result.dtype, out)
    sequence, values = (in_order(tensor, common) for tensor in (sorted_sequence, self))
    if order is not None:
        sequence = np.take_along_axis(sequence, order, -1)
    return finish(quietly(positions, sequence, values, shapes.to_the_right(right, side)), result.dtype, out)


def positions(sequence: Array, values: Array, right: bool) -> Array:
    """The insertion index of each value in the sequence, or in its row of it.

    NumPy searches one sequence. Many rows are bisected together; so is a sequence that ends in NaN, as PyTorch inserts
    nothing before a NaN.
    """
    last = sequence[..., -1:]
    if sequence.ndim == 1 and not (last != last).any():
        return sequence.searchsorted(values, "right" if right else "left")
    if sequence.ndim > 2:
        shape, rows = values.shape, prod(values.shape[:-1])
        flat = positions(sequence.reshape(rows, sequence.shape[-1]), values.reshape(rows, shape[-1]), right)
        return flat.reshape(shape)
    if sequence.ndim > 1 and values.size > BLOCK and values.ndim == 2:
        found = np.empty(values.shape, np.int64)
        step = max(BLOCK // values.shape[-1], 1)
        for at in range(0, len(values), step):
            found[at : at + step] = by_halving(sequence[at : at + step], values[at : at + step], right)
        return found
    return by_halving(sequence, values, right)


def by_halving(sequence: Array, values: Array, right: bool) -> Array:
    """`positions` by bisecting all rows together."""
    size = sequence.shape[-1]
    rows: Array = sequence
    first: Any = 0
    if sequence.ndim > 1:
        rows = np.ascontiguousarray(sequence).reshape(-1)
        first = size * np.arange(prod(values.shape[:-1])).reshape(*values.shape[:-1], 1)
    low: Array = np.zeros(values.shape, np.int64)
    high: Array = np.full(values.shape, size)
    for _ in range(size.bit_length()):
        middle = (low + high) >> 1
        beside = rows.take(np.minimum(middle, size - 1) + first)
        after = (low < high) & ~(beside > values if right else beside >= values)
        low = np.where(after, middle + 1, low)
        high = np.where(after, high, middle)
    return low


def bucketize(
    keys: int, self: Tensor, boundaries: Tensor, out_int32: bool, right: bool, out: Tensor | None = None
) -> Tensor:
    """The kernel of `bucketize.Tensor`: `searchsorted` with its arguments exchanged."""
    shapes.bucketize(self, boundaries, out_int32, right)
    return searchsorted(keys, boundaries, self, out_int32, right, None, None, out)


def bucketize_scalar(
    keys: int, self: Number, boundaries: Tensor, out_int32: bool, right: bool, out: Tensor | None = None
) -> Tensor:
    """The kernel of `bucketize.Scalar`."""
    shapes.bucketize_scalar(self, boundaries, out_int32, right)
    return searchsorted(keys, boundaries, wrapped_number(self), out_int32, right, None, None, out)


def searchsorted_scalar(
    keys: int,
    sorted_sequence: Tensor,
    self: Number,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
    out: Tensor | None = None,
) -> Tensor:
    """The kernel of `searchsorted.Scalar`."""
    shapes.searchsorted_scalar(sorted_sequence, self, out_int32, right, side, sorter)
    return searchsorted(keys, sorted_sequence, wrapped_number(self), out_int32, right, side, sorter, out)


def in_order(tensor: Tensor, common: dtype) -> Array:
    """A tensor's array in a dtype that NumPy can order."""
    array: Array = quietly(tensor.array().astype, op_math(common).numpy)
    return array


# isin -----------------------------------------------------------------------------------------------------------


def isin(
    keys: int,
    elements: Tensor,
    test_elements: Tensor,
    assume_unique: bool,
    invert: bool,
    out: Tensor | None = None,
) -> Tensor:
    """The kernel of `isin.Tensor_Tensor`."""
    shapes.isin(elements, test_elements, False, False)
    return _isin(elements, test_elements, invert, ALL, out)


def isin_number(
    keys: int, elements: Tensor, test_element: Number, assume_unique: bool, invert: bool, out: Tensor | None = None
) -> Tensor:
    """The kernel of `isin.Tensor_Scalar`."""
    shapes.isin_number(elements, test_element, False, False)
    return _isin(elements, wrapped_number(test_element), invert, EVERY, out)


def number_isin(
    keys: int, element: Number, test_elements: Tensor, assume_unique: bool, invert: bool, out: Tensor | None = None
) -> Tensor:
    """The kernel of `isin.Scalar_Tensor`."""
    shapes.number_isin(element, test_elements, False, False)
    return _isin(wrapped_number(element), test_elements, invert, ALL, out)


def _isin(
    elements: Tensor, test_elements: Tensor, invert: bool, accepts: frozenset[dtype], out: Tensor | None
) -> Tensor:
    """Compare in the common dtype. A single test element needs only `eq`, which every dtype has."""
    common = result_type(elements, test_elements)
    if common not in accepts and 0 not in elements._shape:
        raise not_implemented_for("isin_default_cpu", common)
    found = np.isin(in_order(elements, common), in_order(test_elements, common), invert=invert)
    return finish(found, bool_, out)


structured(CPU, "searchsorted.Tensor", searchsorted)
structured(CPU, "searchsorted.Scalar", searchsorted_scalar)
structured(CPU, "bucketize.Tensor", bucketize)
structured(CPU, "bucketize.Scalar", bucketize_scalar)
structured(CPU, "isin.Tensor_Tensor", isin)
structured(CPU, "isin.Tensor_Scalar", isin_number)
structured(CPU, "isin.Scalar_Tensor", number_isin)
