"""Scales into a new tensor; calls a snapshot of the hooks, checks what they return, and retains a copy afterwards."""

from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch.autograd.hooks import NodeHooks, _check_replaced
from glasstorch.core.layout import contiguous_format


def clipping(limit: float) -> Callable[[Any], Any]:
    """A hook for `register_hook` that scales a gradient to a norm of `limit`."""

    def clip(grad: Any) -> Any:
        if grad is None or (norm := grad.norm()) <= limit:
            return None
        return grad * (limit / norm)

    return clip


def on_arrival(hooks: NodeHooks, grads: list[torch.Tensor | None]) -> list[torch.Tensor | None]:
    """The gradients of a node's results, after the hooks of the results."""
    for number, hook in list(hooks.of_tensors.values()):
        changed = hook(grads[number])
        if changed is not None:
            _check_replaced(grads[number], changed, hook)
            grads[number] = changed
    for number, reference in hooks.kept.items():
        record, grad = reference(), grads[number]
        if record is None or grad is None:
            continue
        if record.grad is None:
            record.grad = grad.clone(memory_format=contiguous_format)
        else:
            record.grad = record.grad + grad
    return grads
