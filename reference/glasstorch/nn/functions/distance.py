"""How far are vectors from each other, and how are they made one long?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_variadic
from glasstorch.operators.generated import functions as operators

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of the differences of vectors: (N, D) and (N, D) give (N,)."""
    return operators.pairwise_distance(x1, x2, p, eps, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension; no vector counts as shorter than `eps`."""
    return operators.cosine_similarity(x1, x2, dim, eps)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all pairs of rows: (n, m) gives a vector of n * (n - 1) / 2."""
    return operators.pdist(input, p)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """The input divided by its p-norm along a dimension, but by no less than `eps`."""
    if has_torch_function_variadic(input, out):
        return handle_torch_function(normalize, (input, out), input, p=p, dim=dim, eps=eps, out=out)
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else operators.div(input, length, out=out)
