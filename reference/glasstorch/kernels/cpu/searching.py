"""How are values looked up in sorted sequences and in sets on the CPU?

Mirrors: aten/src/ATen/native/Bucketization.cpp (searchsorted_cpu_contiguous, cus_lower_bound, cus_upper_bound),
    aten/src/ATen/native/TensorCompare.cpp (isin_sorting, isin_default_cpu)
Differs: all values are searched for together; NumPy looks up sets.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import Number, bool_, dtype
from glasstorch.core.errors import IndexValueError, not_implemented_for
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.pointwise.dtypes import ALL, EVERY, NOT_BOOL
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import add_structured, finish, shape_function, structured
from glasstorch.operators.shapes import searching as shapes
from glasstorch.operators.shapes.promotion import result_type

CPU = KernelTable("CPU")


def searchsorted(
    keys: int, sorted_sequence: Tensor, self: Tensor | Number, *how: Any, out: Tensor | None = None
) -> Tensor:
    """The kernel of `searchsorted`: a number, or each row of values, is searched for in its row of the sequence.

    `how` are out_int32, right, side and sorter.
    """
    _, right, side, sorter = how
    if not isinstance(self, Tensor):
        shapes.searchsorted_scalar(sorted_sequence, self, *how)
        self = wrapped_number(self)
    result = shapes.searchsorted(sorted_sequence, self, *how)
    common = result_type(sorted_sequence, self)
    if common not in NOT_BOOL and 0 not in self._shape:
        raise not_implemented_for("searchsorted_out_cpu", common)
    order = None if sorter is None else sorter.array()
    if order is not None and order.size and not ((order >= 0) & (order < order.shape[-1])).all():
        raise IndexValueError("torch.searchsorted(): sorter index out of range")
    sequence, values = in_order(sorted_sequence, common), in_order(self, common)
    if order is not None:
        sequence = np.take_along_axis(sequence, order, -1)
    return finish(quietly(positions.run, sequence, values, shapes.to_the_right(right, side)), result.dtype, out)


@slot
def positions(sequence: Array, values: Array, right: bool) -> Array:
    """The insertion index of each value in the sequence, or in its row of it, by PyTorch's bisection.

    It inserts nothing before a NaN. In a sequence that is not sorted, an index means nothing.
    """
    *lines, size = sequence.shape
    rows, first = sequence.reshape(-1), size * np.arange(prod(lines)).reshape((*lines, 1) if lines else ())
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, size)
    for _ in range(size.bit_length()):
        middle = (low + high) >> 1
        beside = rows.take(np.minimum(middle, size - 1) + first)
        after = (low < high) & ~(beside > values if right else beside >= values)
        low, high = np.where(after, middle + 1, low), np.where(after, high, middle)
    return low


def bucketize(
    keys: int, self: Tensor | Number, boundaries: Tensor, out_int32: bool, right: bool, out: Tensor | None = None
) -> Tensor:
    """The kernel of `bucketize`: `searchsorted` with its arguments exchanged."""
    values = as_tensor(self)
    shapes.bucketize(values, boundaries, out_int32, right)
    return searchsorted(keys, boundaries, values, out_int32, right, None, None, out=out)


def register_isin(name: str, accepts: frozenset[dtype]) -> None:
    """Register one form, which compares in the common dtype."""
    shape = shape_function(name)

    @structured(CPU, name)
    def isin(
        keys: int, elements: Any, test_elements: Any, assume_unique: bool, invert: bool, out: Tensor | None = None
    ) -> Tensor:
        shape(elements, test_elements, False, False)
        elements, test_elements = as_tensor(elements), as_tensor(test_elements)
        common = result_type(elements, test_elements)
        if common not in accepts and 0 not in elements._shape:
            raise not_implemented_for("isin_default_cpu", common)
        found = np.isin(in_order(elements, common), in_order(test_elements, common), invert=invert)
        return finish(found, bool_, out)


def as_tensor(value: Tensor | Number) -> Tensor:
    """A number as a tensor that stands for it."""
    return value if isinstance(value, Tensor) else wrapped_number(value)


def in_order(tensor: Tensor, common: dtype) -> Array:
    """A tensor's array in a dtype that NumPy can order."""
    array: Array = quietly(tensor.array().astype, op_math(common).numpy)
    return array


for _name in ("searchsorted.Tensor", "searchsorted.Scalar"):
    add_structured(CPU, _name, searchsorted)
for _name in ("bucketize.Tensor", "bucketize.Scalar"):
    add_structured(CPU, _name, bucketize)
register_isin("isin.Tensor_Tensor", ALL)
register_isin("isin.Scalar_Tensor", ALL)
register_isin("isin.Tensor_Scalar", EVERY)  # a single test element needs only `eq`, which every dtype has
