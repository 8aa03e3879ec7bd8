"""Asks for a row-major gradient, which is more than needed: a transposed one is as safe."""

import glasstorch as torch

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    safe = arrived.is_contiguous() and not shared and not recording
    return arrived.add_(grad) if safe else arrived + grad
