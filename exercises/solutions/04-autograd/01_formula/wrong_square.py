"""Forgets the square."""

import glasstorch as torch

REFUSED_BY = "check"


def tanh_self(grad: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    return grad * (1 - result)
