"""Which hooks run before and after a node of the backward graph?

Mirrors: torch/csrc/autograd/function_hook.h, python_hook.cpp, node.h (tensor_pre_hooks, retains_grad_hooks, pre_hooks)
Differs: one object holds a node's hooks of every kind, where PyTorch has a list of objects for each.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from glasstorch._tensor import Tensor
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import SPARSE
from glasstorch.core.layout import contiguous_format
from glasstorch.core.removable_handle import RemovableHandle

Gradients = Sequence[Any]  # a Tensor or None for each
TensorHooks = OrderedDict[int, tuple[int, Callable[[Any], Any]]]  # each with the number of its result


def registered(hooks: OrderedDict[int, Any], hook: Any, *more: OrderedDict[int, Any]) -> RemovableHandle:
    """The handle of a hook that has been added behind the others; `more` are what it is to be removed from, too."""
    handle = RemovableHandle(hooks, extra_dict=more)
    hooks[handle.id] = hook
    return handle


class HooksOfTensor(OrderedDict[int, Callable[[Any], Any]]):
    """The hooks on one tensor's gradient, by their ids: `Tensor._backward_hooks`.

    Those of all results of the tensor's node lie in `of_node`, where each hook of this dict is entered, and from which
    it is removed. A copy is an OrderedDict.
    """

    def __init__(self, number: int, of_node: TensorHooks) -> None:
        self.number, self.of_node = number, of_node
        super().__init__()

    def __setitem__(self, key: int, hook: Callable[[Any], Any]) -> None:
        super().__setitem__(key, hook)
        self.of_node[key] = self.number, hook

    def __delitem__(self, key: int) -> None:
        super().__delitem__(key)
        self.of_node.pop(key, None)

    def pop(self, key: int, *default: Any) -> Any:
        self.of_node.pop(key, None)
        return super().pop(key, *default)

    def popitem(self, last: bool = True) -> tuple[int, Callable[[Any], Any]]:
        key, hook = super().popitem(last)
        self.of_node.pop(key, None)
        return key, hook

    def clear(self) -> None:
        for key in tuple(self):
            del self[key]

    def copy(self) -> Any:
        return OrderedDict(self)

    def __reduce__(self) -> Any:
        return OrderedDict, (tuple(self.items()),)

    def __repr__(self) -> str:
        return repr(OrderedDict(self))


class AssignedHooks:
    """A program's own dict, which it has assigned to `Tensor._backward_hooks`.

    The hooks of a leaf run, those that are there when a gradient arrives. Those of another tensor never do, as in
    PyTorch: `of_node`, the hooks of its node, say only for which node they were assigned.
    """

    __slots__ = ("hooks", "of_node")

    def __init__(self, hooks: Any, of_node: TensorHooks | None = None) -> None:
        self.hooks = hooks
        self.of_node = HooksOfLeaf(hooks) if of_node is None else of_node


class HooksOfLeaf(TensorHooks):
    """The hooks of a dict as those of a leaf's node: what is added to the dict is here, too."""

    def __init__(self, hooks: Any) -> None:
        super().__init__()
        self.assigned = hooks

    def values(self) -> Any:
        return [(0, hook) for hook in self.assigned.values()]


class KeepsGradient(Protocol):
    """An object whose `grad` is set by retain_grad: autograd's record of a tensor."""

    grad: Tensor | None


class NodeHooks:
    """A node's tensor hooks, retained gradients, pre-hooks and post-hooks."""

    __slots__ = ("after", "before", "kept", "of_tensors")

    def __init__(self) -> None:
        # By the id of each hook's RemovableHandle, in the order of registration.
        self.of_tensors: TensorHooks = OrderedDict()
        # retain_grad: result -> the record whose `grad` is set; weak, because the record holds the node.
        self.kept: dict[int, weakref.ref[KeepsGradient]] = {}
        self.before: OrderedDict[int, Callable[[Gradients], Any]] = OrderedDict()
        self.after: OrderedDict[int, Callable[[Gradients, Gradients], Any]] = OrderedDict()

    def on_arrival(self, grads: list[Any]) -> list[Any]:
        """The results' gradients are complete: each tensor's hooks may replace its gradient, which is then retained.

        A hook of a tensor that no gradient reached is called with None, as the node runs for another of its results.
        """
        for number, hook in tuple(self.of_tensors.values()):
            changed = hook(grads[number])
            if changed is not None:
                _check_replaced(grads[number], changed, hook)
                grads[number] = changed
        for number, reference in self.kept.items():
            meta = reference()
            if meta is not None and grads[number] is not None:
                if meta.grad is None:  # a copy, because the user may write into it
                    kept = grads[number]
                    options = {} if kept.key_set & SPARSE else {"memory_format": contiguous_format}
                    meta.grad = kept.clone(**options)
                else:
                    meta.grad = meta.grad + grads[number]
        return grads

    def before_node(self, grads: list[Any]) -> list[Any]:
        """Before the node runs: its pre-hooks may replace all gradients."""
        for hook in tuple(self.before.values()):
            changed = hook(tuple(grads))
            if changed is not None:
                _check_all_replaced(grads, changed, hook)
                grads = list(changed)
        return grads

    def after_node(self, results: Gradients, grads: Gradients) -> Gradients:
        """After the node has run: its post-hooks may replace its results."""
        for hook in tuple(self.after.values()):
            changed = hook(tuple(results), tuple(grads))
            if changed is not None:
                _check_all_replaced(results, changed, hook)
                results = changed
        return results


def _check_all_replaced(old: Gradients, new: Any, hook: Any) -> None:
    """Refuse a node hook's return value unless it is a tuple of gradients that may replace the old ones."""
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(new).__name__}'")
    if len(new) != len(old):
        raise AutogradError(
            f"hook '{_name_of(hook)}' has returned an incorrect number of values (got {len(new)}, but expected "
            f"{len(old)})"
        )
    for before, after in zip(old, new, strict=True):
        if after is not None:
            _check_replaced(before, after, hook)


def _check_replaced(old: Any, new: Any, hook: Any) -> None:
    """Refuse a gradient returned by a hook unless it has the type and shape of the one it replaces.

    Mirrors: check_single_result in torch/csrc/autograd/python_hook.cpp
    """
    if old is None:
        raise AutogradError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if new.dtype is not old.dtype or new.device != old.device:
        raise AutogradError(
            f"hook '{_name_of(hook)}' has changed the type of value (was {_type_of(old)} got {_type_of(new)})"
        )
    if new._shape != old._shape:
        raise AutogradError(
            f"hook '{_name_of(hook)}' has changed the size of value (was {list(old._shape)} got {list(new._shape)})"
        )


def check_returned_nothing(leaf: Tensor, returned: Any, hook: Any) -> None:
    """Refuse what a post-accumulate hook returns, unless it is None or the leaf itself.

    Mirrors: PyFunctionTensorPostAccGradHooks in torch/csrc/autograd/python_hook.cpp
    """
    if returned is not None and returned is not leaf:
        _check_replaced(leaf, returned, hook)
        raise AutogradError("Tensor post accumulate grad hooks should return None.")


def _name_of(hook: Any) -> str:
    return getattr(hook, "__name__", "<unknown>")


def _type_of(tensor: Tensor) -> str:
    device = "" if tensor.device.type == "cpu" else f" on {tensor.device}"
    return f"torch.{tensor.dtype.scalar_name}Tensor{device}"
