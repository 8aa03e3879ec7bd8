"""Takes the slope for a constant: the second derivative lacks the part that comes through the result."""

import glasstorch as torch

REFUSED_BY = "check"


def tanh_self(grad: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        slope = 1 - result * result
    return grad * slope
