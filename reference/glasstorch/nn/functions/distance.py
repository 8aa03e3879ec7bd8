"""How far are vectors from each other, and how are they made one long?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_variadic
from glasstorch.operators.generated import functions as operators

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]


# Operators under their own names, as in PyTorch
cosine_similarity = operators.cosine_similarity
pairwise_distance = operators.pairwise_distance
pdist = operators.pdist


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """The input divided by its p-norm along a dimension, but by no less than `eps`."""
    if has_torch_function_variadic(input, out):
        return handle_torch_function(normalize, (input, out), input, p=p, dim=dim, eps=eps, out=out)
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else operators.div(input, length, out=out)
