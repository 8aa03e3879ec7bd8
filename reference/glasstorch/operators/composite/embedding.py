"""How are bags of rows, one-hot vectors and gradients of tables composed of other operators?

Mirrors: aten/src/ATen/native/Embedding.cpp (embedding_backward), EmbeddingBag.cpp (embedding_bag), Onehot.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentError, DtypeError
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def _refuse_sparse(sparse: bool, function: str) -> None:
    if sparse:
        raise ArgumentError(
            f"{function}: the gradient of a table with sparse=True is a sparse tensor, and this library has no sparse "
            "layouts; use sparse=False"
        )


def embedding_backward(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Tensor:
    """A dense gradient; a sparse one is refused."""
    _refuse_sparse(sparse, "embedding_backward")
    return f.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


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
    """A dense gradient; a sparse one is refused."""
    _refuse_sparse(sparse, "embedding_bag_backward")
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
