"""The share of each argument in the sum, by the difference of the two alone."""

import math

import glasstorch as torch


def logaddexp2_self(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The gradient of the first argument, from the gradient of the result."""
    return grad * torch.sigmoid((self - other) * math.log(2))


def logaddexp2_other(grad: torch.Tensor, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The gradient of the second argument, from the gradient of the result."""
    return grad * torch.sigmoid((other - self) * math.log(2))
