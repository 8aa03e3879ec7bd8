"""Which helpers do the formulas of views call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (permute_backwards, slice_backward_wrapper, unbind_backward,
    split_backward, as_strided_backward)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch._tensor import from_array
from glasstorch.autograd.formulas.shared import Geometry
from glasstorch.core.dtype import bool_, dtype, int64
from glasstorch.core.geometry import Shape, row_major, wrap_dim, wrap_dims
from glasstorch.operators.generated.functions import (
    _as_strided_backward,
    as_strided_scatter,
    cat,
    index,
    index_put,
    ones,
    slice_backward,
    stack,
    zeros,
    zeros_like,
)

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def permute_backward(grad: Tensor, dims: Sequence[int]) -> Tensor:
    """The gradient with the permutation undone."""
    order = wrap_dims(dims, len(dims))
    return grad.permute([order.index(i) for i in range(len(order))])


def slice_start(start: int | None) -> int:
    """The start of a slice; 0 by default."""
    return 0 if start is None else start


def slice_end(end: int | None) -> int:
    """The end of a slice; by default beyond any size."""
    return 2**63 - 1 if end is None else end


def narrow_copy_backward(grad: Tensor, shape: Shape, dim: int, start: int, length: int) -> Tensor:
    """Zeros, with the gradient in place of what `narrow` selected."""
    d = wrap_dim(dim, len(shape))
    first = start + shape[d] if start < 0 else start
    return slice_backward(grad, list(shape), d, first, first + length, 1)


def diagonal_backward(grad: Tensor, shape: Shape, offset: int, dim1: int, dim2: int) -> Tensor:
    """The gradient on the diagonal, zeros elsewhere."""
    strides, start = _diagonal_geometry(shape, offset, dim1, dim2)
    return as_strided_backward(grad, (shape, row_major(shape), 0), list(grad._shape), strides, start)


def _diagonal_geometry(shape: Shape, offset: int, dim1: int, dim2: int) -> tuple[list[int], int]:
    strides = row_major(shape)
    a, b = wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape))
    start = offset * strides[b] if offset >= 0 else -offset * strides[a]
    kept = [s for i, s in enumerate(strides) if i not in (a, b)]
    return [*kept, strides[a] + strides[b]], start


def unfold_backward(grad: Tensor, shape: Shape, dimension: int, size: int, step: int) -> Tensor:
    """Each element receives the sum over the windows that contain it."""
    strides = list(row_major(shape))
    if not shape:
        return as_strided_backward(grad, (shape, (), 0), list(grad._shape), [1], 0)
    d = wrap_dim(dimension, len(shape))
    window = strides[d]
    strides[d] *= step
    return as_strided_backward(grad, (shape, row_major(shape), 0), list(grad._shape), [*strides, window], 0)


def unbind_backward(grads: Sequence[Any], dim: int) -> Tensor | None:
    """The stacked gradients, with zeros where none arrived."""
    known = next((g for g in grads if g is not None), None)
    if known is None:
        return None
    return stack([zeros_like(known) if g is None else g for g in grads], dim)


def split_backward(grads: Sequence[Any], shape: Shape, dtype: dtype, split_size: int, dim: int) -> Tensor | None:
    """The concatenated gradients, with zeros where none arrived."""
    known = next((g for g in grads if g is not None), None)
    if known is None:
        return None
    d = wrap_dim(dim, len(shape))
    pieces = []
    for i, g in enumerate(grads):
        if g is None:
            size = min(split_size, shape[d] - i * split_size)
            g = known.new_zeros((*shape[:d], size, *shape[d + 1 :]))
        pieces.append(g)
    return cat(pieces, d)


def split_with_sizes_backward(
    grads: Sequence[Any], shape: Shape, split_sizes: Sequence[int], dim: int
) -> Tensor | None:
    """The concatenated gradients, with zeros where none arrived."""
    known = next((g for g in grads if g is not None), None)
    if known is None:
        return None
    d = wrap_dim(dim, len(shape))
    missing = [(*shape[:d], size, *shape[d + 1 :]) for size in split_sizes]
    return cat([known.new_zeros(m) if g is None else g for g, m in zip(grads, missing, strict=True)], d)


def summed_to(grad: Tensor, shape: Shape) -> Tensor:
    """A gradient summed over the dimensions that were expanded. (PyTorch: sum_to)"""
    return grad if grad._shape == shape else grad.sum_to_size(shape)


def unsqueezed_to(grad: Tensor, dim: int | Sequence[int], shape: Shape) -> Tensor:
    """A gradient with the dimensions of size 1 again that were squeezed away. (PyTorch: unsqueeze_to)"""
    return grad.reshape(shape)


def as_strided_backward(
    grad: Tensor, geometry: Geometry, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Tensor:
    """Each element of the input receives the sum over the view's elements at the same storage position."""
    input_size, input_stride, input_offset = geometry
    offset = input_offset if storage_offset is None else storage_offset
    return _as_strided_backward(
        grad, list(input_size), list(input_stride), input_offset, list(size), list(stride), offset
    )


def as_strided_backward_backward(
    grad: Tensor,
    input_size: Sequence[int],
    input_stride: Sequence[int],
    input_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
) -> Tensor:
    """The gradient of `_as_strided_backward`: scattered to the input's storage positions, read through the view."""
    written, read = positions(input_size, input_stride, input_offset), positions(size, stride, offset)
    cells = 1 + max(int(written.max(initial=0)), int(read.max(initial=0)))
    shared = np.bincount(written, minlength=cells)[written]  # elements of the input that share each position
    flat = grad.reshape([-1])
    if (shared > 1).any():
        flat = flat / from_array(shared, int64).to(grad.device)
    storage = index_put(grad.new_zeros([cells]), [from_array(written, int64)], flat, True)
    return index(storage, [from_array(read, int64)]).reshape(list(size))


def positions(size: Sequence[int], stride: Sequence[int], offset: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The storage position of every element of a geometry, in row-major order of the elements."""
    result = np.array([offset], np.int64)
    for n, step in zip(size, stride, strict=True):
        result = (result[:, None] + np.arange(n) * step).reshape(-1)
    return result


def as_strided_scatter_backward(
    grad: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Tensor:
    """The gradient of the tensor that was copied: zero where the strided view was written.

    The places are the same for all examples of a batch, which `as_strided_scatter` itself is refused for.
    """
    nothing, true = zeros(grad._shape, dtype=bool_, device=grad.device), ones(size, dtype=bool_, device=grad.device)
    written = as_strided_scatter(nothing, true, size, stride, storage_offset)
    return grad.masked_fill(written, 0)
