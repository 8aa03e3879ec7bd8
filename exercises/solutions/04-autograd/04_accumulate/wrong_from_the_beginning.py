"""Writes only into a gradient that begins where its memory begins."""

import glasstorch as torch
from glasstorch.core.geometry import is_non_overlapping_and_dense

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    dense = is_non_overlapping_and_dense(tuple(arrived.shape), arrived.stride()) and arrived.storage_offset() == 0
    return arrived + grad if shared or recording or not dense else arrived.add_(grad)
