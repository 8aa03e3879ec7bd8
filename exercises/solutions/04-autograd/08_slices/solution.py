"""Copies the gradient in the base's layout and replaces the part by what the operator's node returns for it."""

from typing import Any

import glasstorch as torch
from glasstorch.autograd.copy_slices import CopySlices
from glasstorch.autograd.node import only_wanted
from glasstorch.autograd.seen import seen_in


def apply(node: CopySlices, grads: list[torch.Tensor | None]) -> tuple[Any, ...] | list[Any]:
    """The gradients along `node.next_edges`, from that of the new base."""
    (grad,) = grads
    if grad is None:
        return (None,) * len(node.next_edges)
    function = node.function
    if function is None:
        return (node.unpack(None),)
    whole = grad.new_empty_strided(node.base.shape, node.base.strides).copy_(grad)
    part = seen_in(whole, node.base, node.view)
    with only_wanted(None):
        results = list(function.apply([part.clone()]))
    if node.next_edges[0] is not None and results[0] is not None:
        part.copy_(results[0])
        results[0] = whole
    return results
