"""How does a tensor get its hooks, and how are they read and exchanged?

Mirrors: torch/_tensor.py (register_hook, register_post_accumulate_grad_hook), torch/csrc/autograd/python_variable.cpp
    (THPVariable_set_backwards_hooks, THPVariable_set_post_accumulate_grad_hooks)
Differs: what is neither a dict nor None is refused, where PyTorch crashes; assigning None takes hooks on accumulation
    away.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.history import AutogradMeta, gradient_edge
from glasstorch.autograd.hooks import AssignedHooks, HooksOfTensor, registered
from glasstorch.core.errors import AutogradError
from glasstorch.core.removable_handle import RemovableHandle

Hook = Callable[[Any], Any]


def backward_hooks(tensor: Tensor) -> Any:
    """The hooks on the tensor's gradient; None before the first, and after a change in place made a new node."""
    found = _kept_hooks(tensor)
    return found.hooks if isinstance(found, AssignedHooks) else found


def _kept_hooks(tensor: Tensor) -> HooksOfTensor | AssignedHooks | None:
    meta = tensor._autograd_meta
    hooks: HooksOfTensor | AssignedHooks | None = None if meta is None else meta.hooks
    if hooks is None or meta.grad_fn is None:
        return hooks
    edge = gradient_edge(tensor)
    assert edge is not None
    return hooks if hooks.of_node is edge[0].some_hooks().of_tensors else None


def set_backward_hooks(tensor: Tensor, hooks: Any) -> None:
    """Replace the dict of hooks on the tensor's gradient, or take it away; TypeError for anything else.

    A leaf has the dict's hooks from now on. The node of another tensor keeps those that were registered, and does not
    learn of the dict.
    """
    _check_dict(hooks, "_backward_hooks")
    meta = tensor._autograd_meta = tensor._autograd_meta or AutogradMeta()
    if hooks is not None and hooks is meta.hooks:
        return
    edge = gradient_edge(tensor)
    if meta.grad_fn is not None:
        assert edge is not None
        meta.hooks = None if hooks is None else AssignedHooks(hooks, edge[0].some_hooks().of_tensors)
        return
    meta.hooks = None if hooks is None else AssignedHooks(hooks)
    if edge is not None and meta.requires_grad:
        edge[0].some_hooks().of_tensors = OrderedDict() if meta.hooks is None else meta.hooks.of_node


def _own_hooks(tensor: Tensor) -> HooksOfTensor:
    """The tensor's hooks, which its node has too. A leaf may have some before it requires grad."""
    found = backward_hooks(tensor)
    if isinstance(found, HooksOfTensor):
        return found
    edge = gradient_edge(tensor)
    assert edge is not None
    node, output_nr = edge
    meta = tensor._autograd_meta
    if meta.grad_fn is None:  # a leaf's hooks live as long as the leaf, and its node for as long as a graph
        meta.hooks = found = HooksOfTensor(0, OrderedDict())
        node.some_hooks().of_tensors = found.of_node
    else:
        meta.hooks = found = HooksOfTensor(output_nr, node.some_hooks().of_tensors)
    return found


def register_hook(tensor: Tensor, hook: Hook) -> RemovableHandle:
    """A hook on the tensor's gradient; AutogradError unless it requires one."""
    edge = gradient_edge(tensor)
    if edge is None:
        raise AutogradError("cannot register a hook on a tensor that doesn't require gradient")
    meta = tensor._autograd_meta
    if meta.grad_fn is None and not meta.requires_grad:  # a view of what has a history, which was made without one
        return registered(edge[0].some_hooks().of_tensors, (edge[1], hook))
    assigned = _kept_hooks(tensor)
    if isinstance(assigned, AssignedHooks):
        return registered(assigned.hooks, hook)
    hooks = _own_hooks(tensor)
    return registered(hooks, hook, hooks.of_node)


def set_post_accumulate_hooks(tensor: Tensor, hooks: Any) -> None:
    """Replace the hooks that a leaf's accumulated gradient is given to by those of a dict, or by none."""
    _check_dict(hooks, "_post_accumulate_grad_hooks")
    meta = tensor._autograd_meta = tensor._autograd_meta or AutogradMeta()
    meta.post_accumulate_hooks = hooks


def register_post_accumulate_hook(tensor: Tensor, hook: Hook) -> RemovableHandle:
    """A hook that is called once a gradient was added to a leaf; AutogradError for a tensor that is none."""
    if not tensor.requires_grad:
        raise AutogradError("cannot register a hook on a tensor that doesn't require gradient")
    if not tensor.is_leaf:
        raise AutogradError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = tensor._autograd_meta
    if meta.post_accumulate_hooks is None:
        meta.post_accumulate_hooks = OrderedDict()
    return registered(meta.post_accumulate_hooks, hook)


def _check_dict(hooks: Any, name: str) -> None:
    if hooks is not None and not isinstance(hooks, Mapping):
        raise TypeError(f"{name} has to be a dict of hooks or None, but got {type(hooks).__name__}")
