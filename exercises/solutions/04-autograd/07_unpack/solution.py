"""Raises if the tensor has lost its history or has another version; puts a result's history on a new tensor."""

import glasstorch as torch
from glasstorch._tensor import alias
from glasstorch.autograd.history import AutogradMeta
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.errors import AutogradError


def unpack(saved: SavedVariable, owner: Node, shown: bool = False) -> torch.Tensor:
    """The tensor that `owner` saved, with its history."""
    tensor = saved.tensor
    kept = tensor._autograd_meta
    if saved.had_node and not shown and (kept is None or kept.grad_fn is None):
        raise AutogradError("Trying to use a saved tensor that has been detached in-place: use detach() instead")
    if tensor._version != saved.version:
        raise AutogradError(saved._changed(owner, tensor._version))
    if saved.output_nr < 0 or not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        return tensor
    result = alias(tensor)
    meta = result._autograd_meta = AutogradMeta()
    meta.grad_fn, meta.output_nr = owner.result_edge(saved.output_nr)
    if kept is not None:
        meta.tangent = kept.tangent
    return result
