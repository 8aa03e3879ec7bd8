"""Which distances are there as modules?

Mirrors: torch/nn/modules/distance.py
"""

from __future__ import annotations

from typing import ClassVar

from glasstorch._tensor import Tensor
from glasstorch.nn import functional
from glasstorch.nn.modules.module import Module


class PairwiseDistance(Module):
    """The p-norm of the differences of vectors."""

    __constants__: ClassVar = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """(N, D) and (N, D) give (N,), or (N, 1) with `keepdim`."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dimension."""

    __constants__: ClassVar = ["dim", "eps"]

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Both broadcast; the result lacks the dimension `dim`."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)
