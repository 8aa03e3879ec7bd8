"""Of what are embeddings and indexed writes made?

Mirrors: torch/_decomp/decompositions.py (embedding_dense_backward, index_add, index_copy, max_unpool2d),
    torch/_refs/__init__.py (index_fill, take)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, wide, with_rank
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.dtype import Number, int64
from glasstorch.operators.generated import functions as f

Sizes = Sequence[int]


@decomposes("embedding", core=False)
def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows that the indices name."""
    if indices.dim() <= 1:
        found = f.index_select(weight, 0, indices.reshape(-1))
        return found if indices.dim() else f.squeeze(found, 0)
    return f.index(weight, [indices])


@decomposes("embedding_dense_backward")
def embedding_dense_backward(
    grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """The sum of the gradients of each row's uses."""
    grad, indices = wide(grad_output), cast(indices, int64)
    if scale_grad_by_freq:
        counts = f.full((num_weights,), 0, dtype=int64, device=indices.device)
        counts = f.index_put(counts, [indices], f.full_like(indices, 1), True)
        grad = grad / f.index(counts, [indices]).unsqueeze(-1)
    skipped = with_rank(indices == padding_idx, grad.dim())
    grad = f.masked_fill(grad, skipped, 0)
    rows = f.full([num_weights, *grad.shape[indices.dim() :]], 0, dtype=grad.dtype, device=grad.device)
    return cast(f.index_put(rows, [indices], grad, True), grad_output.dtype)


@decomposes("index_add")
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """With slices added at the places of an index."""
    return _put(self, dim, index, source if alpha == 1 else source * alpha, True).contiguous()


@decomposes("index_copy")
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """With slices written at the places of an index."""
    return _put(self, dim, index, source, False).contiguous()


def _put(self: Tensor, dim: int, index: Tensor, values: Any, accumulate: bool) -> Tensor:
    if not self.dim():
        return f.squeeze(_put(self.unsqueeze(0), 0, index, values, accumulate), 0)
    if index.dim() == 0:
        index = index.unsqueeze(0)
    places: list[Tensor | None] = [*[None] * (dim % self.dim()), index]
    return f.index_put(self, places, cast(values, self.dtype), accumulate)


@decomposes("index_fill.int_Scalar")
def index_fill(self: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    """With a number at the places of an index."""
    return _put(self, dim, index, f.scalar_tensor(value, dtype=self.dtype, device=self.device), False)


@decomposes("index_fill.int_Tensor")
def index_fill_tensor(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """With the element of a tensor at the places of an index."""
    return _put(self, dim, index, cast(value, self.dtype), False)


@decomposes("take")
def take(self: Tensor, index: Tensor) -> Tensor:
    """Elements by their places in the flat tensor."""
    return f.index(self.reshape(-1), [index])


@decomposes("max_unpool2d")
def max_unpool2d(self: Tensor, indices: Tensor, output_size: Sizes) -> Tensor:
    """Each maximum back at its place, and else 0."""
    return _unpooled(self, indices, output_size)


@decomposes("max_unpool3d")
def max_unpool3d(self: Tensor, indices: Tensor, output_size: Sizes, stride: Sizes, padding: Sizes) -> Tensor:
    """The same in three dimensions."""
    return _unpooled(self, indices, output_size)


def _unpooled(self: Tensor, indices: Tensor, output_size: Sizes) -> Tensor:
    outer, spatial = self.shape[: -len(output_size)], len(output_size)
    count, size = prod(outer), prod(output_size)
    starts = f.arange(count, device=self.device).view([*outer, *[1] * spatial]) * size
    flat = f.full((count * size,), 0, dtype=self.dtype, device=self.device)
    placed = f.index_put(flat, [(indices + starts).reshape(-1)], self.reshape(-1), False)
    return placed.view([*outer, *output_size])
