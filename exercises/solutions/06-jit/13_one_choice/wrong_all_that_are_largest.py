"""Chooses each place of the largest probability.

Refused by: check
"""

from glasstorch import Tensor

choices = 0


def harden(soft: Tensor, dim: int) -> Tensor:
    global choices
    choices += soft.numel() // soft.shape[dim]
    chosen = (soft == soft.amax(dim, keepdim=True)).to(soft.dtype)
    return chosen - soft.detach() + soft
