"""Adds with recording off, whatever is asked: the second derivative of what was used twice is gone."""

import glasstorch as torch
from glasstorch.core.geometry import is_non_overlapping_and_dense

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    dense = is_non_overlapping_and_dense(tuple(arrived.shape), arrived.stride())
    with torch.no_grad():
        return arrived + grad if shared or recording or not dense else arrived.add_(grad)
