"""Writes into a gradient whose elements share one place of memory."""

import glasstorch as torch

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    return arrived + grad if shared or recording else arrived.add_(grad)
