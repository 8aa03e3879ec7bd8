"""What is the derivative of the gradient of a table?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (embedding_dense_double_backward)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def embedding_dense_double_backward(grad: Tensor, indices: Tensor, padding_idx: int) -> Tensor:
    """The rows of `grad` at the indices, and zeros where the index is `padding_idx`."""
    rows = grad.index_select(0, indices.reshape(-1)).view(*indices.shape, grad.shape[1])
    return rows if padding_idx < 0 else rows.masked_fill((indices == padding_idx).unsqueeze(-1), 0)
