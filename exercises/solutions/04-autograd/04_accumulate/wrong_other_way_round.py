"""Writes into the second gradient where the first is shared, as if one of the two had to be free."""

import glasstorch as torch
from glasstorch.core.geometry import is_non_overlapping_and_dense

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    dense = is_non_overlapping_and_dense(tuple(arrived.shape), arrived.stride())
    if recording or not dense:
        return arrived + grad
    return grad.add_(arrived) if shared else arrived.add_(grad)
