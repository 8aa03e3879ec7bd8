"""Takes the derivative of the operator with the base e: the difference counts for too much.

Refused by: check
"""

import glasstorch as torch


def logaddexp2_self(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The gradient of the first argument, from the gradient of the result."""
    return grad * torch.sigmoid(self - other)


def logaddexp2_other(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The gradient of the second argument, from the gradient of the result."""
    return grad * torch.sigmoid(other - self)
