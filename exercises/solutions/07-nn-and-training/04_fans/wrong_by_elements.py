"""Divides the number of elements, which fails where there are none.

Refused by: check
"""

from glasstorch import Tensor


def fans(weight: Tensor) -> tuple[int, int]:
    """How many inputs an output sums, and how many outputs an input reaches."""
    if weight.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs = weight.shape[:2]
    return weight.numel() // outputs, weight.numel() // inputs
