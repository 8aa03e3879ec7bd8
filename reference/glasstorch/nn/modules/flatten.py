"""How does a batch of images become a batch of vectors?

Mirrors: torch/nn/modules/flatten.py
Differs: no Unflatten.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.nn.modules.module import Module


class Flatten(Module):
    """Flattens the dimensions from `start_dim` to `end_dim` into one; by default all but the batch dimension."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """(N, *sizes) becomes (N, product of sizes) by default: a view where the strides allow it, else a copy."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
