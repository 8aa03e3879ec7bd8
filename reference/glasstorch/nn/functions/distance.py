"""How far are vectors from each other?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.operators.generated import functions as operators

__all__ = ["pdist"]


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all pairs of rows: (n, m) gives a vector of n * (n - 1) / 2."""
    return operators.pdist(input, p)
