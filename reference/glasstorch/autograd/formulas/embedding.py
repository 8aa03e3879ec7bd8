"""Which helpers do the formulas of embeddings call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (embedding_dense_double_backward)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.operators.generated.functions import eq

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def embedding_dense_double_backward(grad: Tensor, indices: Tensor, padding_idx: int) -> Tensor:
    """The rows of the table's gradient that the indices name; 0 for the padding."""
    rows = grad.index_select(0, indices.reshape(-1)).view((*indices._shape, grad._shape[1]))
    return rows.masked_fill(eq(indices, padding_idx).unsqueeze(-1), 0) if padding_idx >= 0 else rows
