"""How are bags of rows, one-hot vectors and gradients of tables composed of other operators?

Mirrors: aten/src/ATen/native/Embedding.cpp (embedding_backward), EmbeddingBag.cpp (embedding_bag), Onehot.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentError, DtypeError
from glasstorch.operators.composite.sparse.coo import coo_unchecked
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

MEAN = 1  # the number of the mode of bags whose rows are averaged


def embedding_backward(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Tensor:
    """A dense gradient, or a sparse one with an element for each index."""
    if not sparse:
        return f.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
    check_not_scaled("embedding_backward", scale_grad_by_freq)
    return f.embedding_sparse_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


def check_not_scaled(function: str, scale_grad_by_freq: bool) -> None:
    """Refuse to divide a sparse gradient by how often an index occurs."""
    if scale_grad_by_freq:
        raise ArgumentError(f"{function}: scale_grad_by_freq not supported with sparse gradients")


def embedding_sparse_backward(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """A COO tensor with one sparse dimension: the indices as they came, and the gradients of their rows."""
    width = grad._shape[-1]
    values, rows = grad.reshape((-1, width)), indices.reshape((-1,))
    if padding_idx != -1:
        kept = f.nonzero(rows != padding_idx).squeeze(1)
        rows, values = f.index_select(rows, 0, kept), f.index_select(values, 0, kept)
    return coo_unchecked(rows.to(int64).unsqueeze(0), values, (num_weights, width), None, None, None, None, None)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
) -> Any:
    """Without an index that is left out."""
    return f._embedding_bag(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, -1
    )


def embedding_bag_padding_idx(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> Any:
    """An index counted from the end becomes one counted from the start."""
    left_out, rows = -1, weight._shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise ArgumentError(
                f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
                f"{padding_idx}"
            )
        left_out = padding_idx % rows
    return f._embedding_bag(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, left_out
    )


def _embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int,
) -> Tensor:
    """A dense gradient, or a sparse one with an element for each index."""
    if sparse:
        return f._embedding_bag_sparse_backward(
            grad,
            indices,
            offsets,
            offset2bag,
            bag_size,
            num_weights,
            scale_grad_by_freq,
            mode,
            per_sample_weights,
            padding_idx,
        )
    return f._embedding_bag_dense_backward(
        grad,
        indices,
        offset2bag,
        bag_size,
        maximum_indices,
        num_weights,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        padding_idx,
    )


def _embedding_bag_sparse_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int,
) -> Tensor:
    """A COO tensor with one sparse dimension: each index has its share of the gradient of its bag."""
    check_not_scaled("embedding_bag_backward", scale_grad_by_freq)
    shares = f.index_select(grad, 0, offset2bag)
    if mode == MEAN:
        sizes = f.index_select(bag_size, 0, offset2bag).clamp(min=1).to(grad.dtype)
        shares = shares / sizes.unsqueeze(1)
    if per_sample_weights is not None:
        shares = shares * per_sample_weights.unsqueeze(1)
    return f.embedding_sparse_backward(shares, indices, num_weights, padding_idx, scale_grad_by_freq)


def one_hot(self: Tensor, num_classes: int) -> Tensor:
    """Zeros, and a one at the class that each element names."""
    if self.dtype is not int64:
        raise DtypeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not self.numel():
        if num_classes <= 0:
            raise ArgumentError("Can not infer total number of classes from empty tensor.")
        return f.zeros((*self._shape, num_classes), dtype=int64, device=self.device)
    if not self.is_meta:
        smallest, largest = (extremum.item() for extremum in f.aminmax(self))
        if smallest < 0:
            raise ArgumentError("Class values must be non-negative.")
        if num_classes == -1:
            num_classes = largest + 1
        elif largest >= num_classes:
            raise ArgumentError("Class values must be smaller than num_classes.")
    elif num_classes == -1:
        raise ArgumentError("one_hot: a tensor on the meta device has no classes to count; give num_classes")
    found = f.zeros((*self._shape, num_classes), dtype=int64, device=self.device)
    return found.scatter_(-1, self.unsqueeze(-1), 1)
