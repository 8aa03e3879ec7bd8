"""The memory is written three times and restored from a copy; each pass starts with a tensor of its own."""

from collections.abc import Callable, Sequence
from typing import Any

import glasstorch as torch


def central(
    func: Callable[..., tuple[torch.Tensor, ...]],
    inputs: Sequence[Any],
    moved: torch.Tensor,
    step: Any,
    eps: float,
) -> list[torch.Tensor]:
    """For each output its change from one step below to one step above."""
    before = moved.clone()
    try:
        moved.copy_(before - step)
        behind = [output.clone() for output in func(*inputs)]
        moved.copy_(before + step)
        ahead = [output.clone() for output in func(*inputs)]
    finally:
        moved.copy_(before)
    return [((b - a) / (2 * eps)).detach().reshape(-1) for a, b in zip(behind, ahead, strict=True)]


def rows(wanted: Sequence[torch.Tensor], output: torch.Tensor) -> list[list[torch.Tensor | None]]:
    """For each wanted tensor the gradients of all elements of the output."""
    found: list[list[torch.Tensor | None]] = [[] for _ in wanted]
    for element in range(output.numel()):
        start = output.new_zeros(output.shape)
        start.view(-1)[element] = 1.0
        gradients = torch.autograd.grad(output, wanted, start, retain_graph=True, allow_unused=True)
        for row, gradient in zip(found, gradients, strict=True):
            row.append(gradient)
    return found
