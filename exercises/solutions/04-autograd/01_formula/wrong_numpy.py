"""Computes with NumPy: the gradient is right, but nothing is recorded, so there is no second derivative."""

import glasstorch as torch

REFUSED_BY = "check"


def tanh_self(grad: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    slope = 1 - result.detach().numpy() ** 2
    return torch.tensor(grad.detach().numpy() * slope)
