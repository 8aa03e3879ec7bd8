"""Counts what is in the weight, and needs its values for that.

Refused by: check
"""

from glasstorch import Tensor


def fans(weight: Tensor) -> tuple[int, int]:
    """How many inputs an output sums, and how many outputs an input reaches."""
    if weight.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    ones = (weight == weight).int()
    return int(ones[0].sum().item()), int(ones[:, 0].sum().item())
