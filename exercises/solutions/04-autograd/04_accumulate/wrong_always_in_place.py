"""Writes into the first gradient whoever holds it."""

import glasstorch as torch

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    return arrived.add_(grad)
