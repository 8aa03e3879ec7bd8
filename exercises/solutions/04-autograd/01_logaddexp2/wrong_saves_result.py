"""Names the result: short and right, but a third tensor stays in memory, the largest of the three.

Refused by: check
"""

import glasstorch as torch


def logaddexp2_self(grad: torch.Tensor, self: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """The gradient of the first argument, from the gradient of the result."""
    return grad * torch.exp2(self - result)


def logaddexp2_other(grad: torch.Tensor, other: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """The gradient of the second argument, from the gradient of the result."""
    return grad * torch.exp2(other - result)
