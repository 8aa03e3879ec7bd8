"""Makes a new tensor every time: right, and the memory of a pass grows with each gradient that meets another."""

import glasstorch as torch

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    return arrived + grad
