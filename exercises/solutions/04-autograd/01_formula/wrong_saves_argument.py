"""Asks for the argument and computes tanh once more: right, and a second tensor in memory for each call.

Refused by: check
"""

import glasstorch as torch


def tanh_self(grad: torch.Tensor, self: torch.Tensor) -> torch.Tensor:
    result = torch.tanh(self)
    return grad * (1 - result * result)
