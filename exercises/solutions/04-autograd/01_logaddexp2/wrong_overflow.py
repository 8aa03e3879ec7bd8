"""Computes the powers themselves: right, until one of them is too large for a float.

Refused by: check
"""

import glasstorch as torch


def logaddexp2_self(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The gradient of the first argument, from the gradient of the result."""
    return grad * torch.exp2(self) / (torch.exp2(self) + torch.exp2(other))


def logaddexp2_other(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The gradient of the second argument, from the gradient of the result."""
    return grad * torch.exp2(other) / (torch.exp2(self) + torch.exp2(other))
