"""Asks whether the gradient is as large as its memory: one that fills a part of it is as safe."""

import glasstorch as torch

REFUSED_BY = "check"


def accumulate(arrived: torch.Tensor, grad: torch.Tensor, *, shared: bool, recording: bool) -> torch.Tensor:
    whole = arrived.numel() * arrived.element_size() == arrived.untyped_storage().nbytes()
    return arrived + grad if shared or recording or not whole else arrived.add_(grad)
