"""How is an array brought into the order in which a kernel reads its lines?

Mirrors: aten/src/ATen/native/ReduceOpsUtils.h (restride_dim)
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.tensor_impl import Array


def to_last(array: Array, axis: int) -> Array:
    """The array with an axis moved last; NumPy's `moveaxis` is slow where it already is the last."""
    return array if axis == array.ndim - 1 else np.moveaxis(array, axis, -1)


def from_last(array: Array, axis: int) -> Array:
    """The array with its last axis moved back: the inverse of `to_last`."""
    return array if axis == array.ndim - 1 else np.moveaxis(array, -1, axis)
