"""Does not ask who else has the first gradient."""

import glasstorch as torch
from glasstorch.core.geometry import is_non_overlapping_and_dense

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    dense = is_non_overlapping_and_dense(tuple(arrived.shape), arrived.stride())
    return arrived + grad if recording or not dense else arrived.add_(grad)
