"""How are packed sequences padded to one length, and the padding taken away again, on the CPU?

Sequence i of the packed values are the rows from offsets[i] up to offsets[i + 1].

Mirrors: aten/src/ATen/native/nested/NestedTensorTransformerFunctions.cpp (_jagged_to_padded_dense_forward_cpu,
    _padded_dense_to_jagged_forward_cpu)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.dispatch.library import KernelTable

CPU = KernelTable("CPU")


@CPU.impl("_jagged_to_padded_dense_forward")
def jagged_to_padded(
    keys: int, values: Tensor, offsets: Sequence[Tensor], max_lengths: Sequence[int], padding_value: float
) -> Tensor:
    """Each sequence from the front of its row on; what is longer than the row is left out."""
    if len(offsets) != 1 or len(max_lengths) != 1:
        raise ArgumentError("_jagged_to_padded_dense_forward(): only a single jagged dim is supported for now")
    given, starts, longest = values.array(), offsets[0].array(), max_lengths[0]
    padded = np.full(
        (len(starts) - 1, longest, *given.shape[1:]), _as_padding(padding_value, values.dtype), given.dtype
    )
    for row, start, end in zip(padded, starts[:-1], starts[1:], strict=True):
        count = min(int(end - start), longest)
        row[:count] = given[start : start + count]
    return wrap(padded, values.dtype)


@CPU.impl("_padded_dense_to_jagged_forward")
def padded_to_jagged(keys: int, dense: Tensor, offsets: Sequence[Tensor], total_L: int | None) -> Tensor:
    """The first elements of each row, as many as its sequence has, one after the other."""
    if len(offsets) != 1:
        raise ArgumentError("_padded_dense_to_jagged_forward(): only a single jagged dim is supported for now")
    given, starts = dense.array(), offsets[0].array()
    total = int(starts[-1])
    if total_L is not None and total_L != total:
        raise ShapeError("_padded_dense_to_jagged_forward(): final offset should match total_L value")
    packed = np.empty((total, *given.shape[2:]), given.dtype)
    for row, start, end in zip(given, starts[:-1], starts[1:], strict=False):
        if end - start > given.shape[1]:
            raise ShapeError(
                f"_padded_dense_to_jagged_forward(): found batch item of length {end - start} when max length "
                f"specified by padded input is {given.shape[1]}"
            )
        packed[start:end] = row[: end - start]
    return wrap(packed, dense.dtype)


def _as_padding(value: float, kind: dtype) -> float | int:
    """A number as an element: an infinity is the outermost number of integers."""
    if kind.is_floating_point or kind.is_complex or not np.isinf(value):
        return value
    if kind.numpy == np.bool_:
        return value > 0
    limits = np.iinfo(kind.numpy)
    return int(limits.max if value > 0 else limits.min)
