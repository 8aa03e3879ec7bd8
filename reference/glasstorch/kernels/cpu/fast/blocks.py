"""How is a large array processed piece by piece or line by line, so that intermediates stay in cache?

Mirrors: aten/src/ATen/native/cpu/Reduce.h (binary_kernel_reduce), aten/src/ATen/native/TensorIterator.cpp (split),
    aten/src/ATen/native/ReduceOpsUtils.h (restride_dim)
Differs: PyTorch converts and reduces one SIMD vector after another inside its loops. Here one NumPy call converts a
    piece of the array and the next reduces it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from glasstorch.core.allocator import empty_array
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.operators.shapes.reductions.sums import reduced_shape

Reduce = Callable[[Array, Shape], Array]  # reduces over dimensions, keeping them with size 1


def reduce_in_pieces(reduce: Reduce, join: Reduce, array: Array, dims: Shape, keepdim: bool) -> Array:
    """`reduce(array, dims)`, computed by `join` from the results of `reduce` on pieces of the array.

    They are contiguous blocks where the array is contiguous. An empty array is one piece.
    """
    if array.size <= thresholds.BLOCK:
        total = reduce(array, dims)
        return total if keepdim else total.reshape(reduced_shape(array.shape, dims, False))
    order = sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))
    inner = tuple(at for at, d in enumerate(order) if d in dims)
    total = _joined(reduce, join, array.transpose(order), inner).transpose(np.argsort(order))
    return total if keepdim else total.reshape(reduced_shape(array.shape, dims, False))


def _joined(reduce: Reduce, join: Reduce, array: Array, dims: Shape) -> Array:
    """The same for an array whose dimensions are in memory order, the slowest first."""
    if array.size <= thresholds.BLOCK:
        return reduce(array, dims)
    d = next(d for d, size in enumerate(array.shape) if size > 1)
    step = max(1, thresholds.BLOCK * array.shape[d] // array.size)
    before: tuple[Any, ...] = (slice(None),) * d
    parts: list[Array] = []
    for start in range(0, array.shape[d], step):
        parts.append(_joined(reduce, join, array[(*before, slice(start, start + step))], dims))
        if d in dims and len(parts) > 1 and len(parts) * parts[0].size > thresholds.BLOCK:
            parts = [join(np.concatenate(parts, d), (d,))]
    together = np.concatenate(parts, d)
    return join(together, (d,)) if d in dims and len(parts) > 1 else together


def chunks(count: int, step: int) -> Iterator[slice]:
    """Slices that cover so many."""
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def fresh(shape: Sequence[int], dtype: np.dtype[np.generic]) -> Array:
    """An array of memory from the pool."""
    return empty_array(tuple(shape), dtype, prod(shape) * dtype.itemsize)


def strips(array: Array, axis: int) -> Iterator[tuple[slice, ...]]:
    """Indices of strips that hold whole lines along an axis: about thresholds.STRIP elements each, or one line.

    The dimensions with the largest strides are cut first.
    """
    cuts: list[tuple[slice, ...]] = [()]
    sizes = list(array.shape)
    steps = [size if d == axis else 1 for d, size in enumerate(sizes)]
    room = thresholds.STRIP // max(sizes[axis], 1)
    for d in sorted((d for d in range(array.ndim) if d != axis), key=lambda d: abs(array.strides[d])):
        steps[d] = max(1, min(room, sizes[d]))
        room //= max(sizes[d], 1)
    for size, step in zip(sizes, steps, strict=True):
        cuts = [(*cut, slice(start, start + step)) for cut in cuts for start in range(0, size, max(step, 1))]
    return iter(cuts)


def to_last(array: Array, axis: int) -> Array:
    """The array with an axis moved last; NumPy's `moveaxis` is slow where it already is the last."""
    return array if axis == array.ndim - 1 else np.moveaxis(array, axis, -1)


def from_last(array: Array, axis: int) -> Array:
    """The array with its last axis moved back: the inverse of `to_last`."""
    return array if axis == array.ndim - 1 else np.moveaxis(array, -1, axis)
