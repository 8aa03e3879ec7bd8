"""Writes into the gradient where nothing is recorded, to save a tensor; but somebody else may hold that gradient."""

import glasstorch as torch

REFUSED_BY = "graft"


def tanh_self(grad: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    slope = 1 - result * result
    return grad * slope if torch.is_grad_enabled() else grad.mul_(slope)
