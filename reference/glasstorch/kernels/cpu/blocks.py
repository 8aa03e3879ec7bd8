"""How is an array reduced over some of its dimensions, or brought into an order in which a kernel reads its lines?

Mirrors: aten/src/ATen/native/cpu/Reduce.h (binary_kernel_reduce), aten/src/ATen/native/ReduceOpsUtils.h (restride_dim)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.operators.shapes.reductions.sums import reduced_shape

Reduce = Callable[[Array, Shape], Array]  # reduces over dimensions, keeping them with size 1


@slot
def reduce_in_pieces(reduce: Reduce, join: Reduce, array: Array, dims: Shape, keepdim: bool) -> Array:
    """`reduce(array, dims)`; the fast form computes it by `join` from the results of `reduce` on pieces."""
    total = reduce(array, dims)
    return total if keepdim else total.reshape(reduced_shape(array.shape, dims, False))


def to_last(array: Array, axis: int) -> Array:
    """The array with an axis moved last; NumPy's `moveaxis` is slow where it already is the last."""
    return array if axis == array.ndim - 1 else np.moveaxis(array, axis, -1)


def from_last(array: Array, axis: int) -> Array:
    """The array with its last axis moved back: the inverse of `to_last`."""
    return array if axis == array.ndim - 1 else np.moveaxis(array, -1, axis)
