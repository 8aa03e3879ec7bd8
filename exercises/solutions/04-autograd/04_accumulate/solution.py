"""In place where nothing observes it (no other reference, no recording, a place for each element), without gaps."""

import glasstorch as torch
from glasstorch.core.geometry import is_non_overlapping_and_dense


def accumulate(
    arrived: torch.Tensor,
    grad: torch.Tensor,
    *,
    others: int,
    grad_mode: bool,
) -> torch.Tensor:
    """The sum of a gradient that has arrived and of the next one."""
    dense = is_non_overlapping_and_dense(tuple(arrived.shape), arrived.stride())
    if others or grad_mode or not dense:
        return arrived + grad
    return arrived.add_(grad)
