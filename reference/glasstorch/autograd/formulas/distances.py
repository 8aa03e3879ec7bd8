"""Which helpers do the formulas of distances call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (_euclidean_dist_backward)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.operators.generated.functions import eq, matmul

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def euclidean_dist_backward(grad: Tensor, x1: Tensor, x2: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient of each row points along the line to the other; it is 0 where the two coincide."""
    ratio = (grad / result).masked_fill(eq(result, 0), 0)
    ours = x1 * ratio.sum(-1, keepdim=True) - matmul(ratio, x2)
    theirs = x2 * ratio.sum(-2).unsqueeze(-1) - matmul(ratio.mT, x1)
    return ours, theirs
