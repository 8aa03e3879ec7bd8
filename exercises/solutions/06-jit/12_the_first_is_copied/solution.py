"""The average and its successor are both computed, and one of them is selected."""

from collections.abc import Sequence

import glasstorch as torch
from glasstorch import Tensor

taken = 0


def take_in(averages: Sequence[Tensor], current: Sequence[Tensor], n_averaged: Tensor) -> None:
    global taken
    for average, new in zip(averages, current, strict=True):
        moved = average + (new - average) / (n_averaged + 1)
        average.copy_(torch.where(n_averaged == 0, new, moved.to(average.dtype)))
        taken += average.numel()
