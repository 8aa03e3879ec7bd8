"""How are embedding, embedding_bag and one_hot composed of other operators?

Mirrors: aten/src/ATen/native/Embedding.cpp (embedding, embedding_backward), EmbeddingBag.cpp (embedding_bag,
    _embedding_bag_backward), Onehot.cpp
Differs: gradients are dense: sparse=True is refused where the gradient would be sparse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.embedding import check_indices

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def embedding(weight: Tensor, indices: Tensor, padding_idx: int, scale_grad_by_freq: bool, sparse: bool) -> Tensor:
    """(V, D) and indices (...) give (..., D)."""
    if len(weight._shape) != 2:
        raise ShapeError("'weight' must be 2-D")
    check_indices(indices, 1, "indices", "embedding")
    rows = f.index_select(weight, 0, indices.reshape(-1))
    return rows.view((*indices._shape, weight._shape[1]))


def embedding_backward(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Tensor:
    """The gradient of the table."""
    _refuse_sparse("embedding", sparse)
    return f.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


def _refuse_sparse(function: str, sparse: bool) -> None:
    if sparse:
        raise NotImplementedError(
            f"{function} with sparse=True has a sparse gradient, and glasstorch has no sparse layouts; use sparse=False"
        )


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
) -> tuple[Tensor, ...]:
    """Without padding."""
    how = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset)
    return embedding_bag_padding_idx(weight, indices, offsets, *how, None)


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
) -> tuple[Tensor, ...]:
    """The padding may be counted from the end; indices and offsets are made contiguous, and of one dtype."""
    padding = -1
    if padding_idx is not None:
        rows = weight._shape[0]
        if not -rows <= padding_idx < rows:
            raise ArgumentError(
                f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
                f"{padding_idx}"
            )
        padding = padding_idx % rows
    operator = f._embedding_bag if weight.requires_grad else f._embedding_bag_forward_only
    how = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding)
    return operator(weight, indices.contiguous(), offsets.contiguous(), *how)  # type: ignore[no-any-return]


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
    """The gradient of the table."""
    _refuse_sparse("embedding_bag", sparse)
    how = (num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx)
    return f._embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, maximum_indices, *how)


def one_hot(self: Tensor, num_classes: int) -> Tensor:
    """(...) gives (..., classes): one at each class, 0 elsewhere; as many classes as are named, if not told."""
    if self.dtype is not int64:
        raise DtypeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not self.numel():
        if num_classes <= 0:
            raise ArgumentError("Can not infer total number of classes from empty tensor.")
    elif self.device.type != "meta":
        if self.min().item() < 0:
            raise ArgumentError("Class values must be non-negative.")
        if num_classes != -1 and num_classes <= self.max().item():
            raise ArgumentError("Class values must be smaller than num_classes.")
    if num_classes == -1:
        num_classes = int(self.max()) + 1
    return f.eq(self.unsqueeze(-1), f.arange(num_classes, device=self.device)).to(int64)
