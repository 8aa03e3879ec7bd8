"""How does a node save a tensor for the backward pass, and detect that it was changed?

It notes the tensor's version, and checks it against the version counter when the backward pass unpacks the tensor.

Where hooks are in use (`saved_hooks.py`), it keeps what they make of the tensor, and no version is checked.

Mirrors: torch/csrc/autograd/saved_variable.h, saved_variable.cpp
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor, alias
from glasstorch.autograd.accumulate_grad import AccumulateGrad
from glasstorch.autograd.anomaly_mode import is_anomaly_enabled
from glasstorch.autograd.history import AutogradMeta, gradient_edge
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Edge, Node, made_by
from glasstorch.autograd.saved_hooks import Pair, in_use
from glasstorch.core.dtype import FLOATING
from glasstorch.core.errors import ArgumentTypeError, AutogradError
from glasstorch.core.keys import ADINPLACEORVIEW
from glasstorch.dispatch.python_fallback import is_seen

hooks_in_use = in_use.get


class Packed:
    """What hooks made of a tensor, and where its gradient goes: the tensor that they give back takes its place there.

    The gradient of a node's own result goes to the node, which is not held: it holds this.
    """

    __slots__ = ("edge", "unpack_hook", "value")

    def __init__(self, hooks: Pair, tensor: Tensor, edge: Edge | None) -> None:
        self.edge = edge
        self.unpack_hook = hooks.unpack
        counter = tensor.version_counter()
        version = counter.value
        token = grad_mode.set(False)
        try:
            self.value = hooks.pack(tensor)
        finally:
            grad_mode.reset(token)
        if counter.value != version:
            raise AutogradError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects: change a "
                "clone() instead"
            )

    @classmethod
    def from_node(cls, hooks: Pair, tensor: Tensor, producer: Node | None, output_nr: int) -> Packed:
        """Pack an argument, or a result, to which its history is given first."""
        if producer is None:
            return cls(hooks, tensor, gradient_edge(tensor))
        return cls(hooks, with_history(tensor, (producer, output_nr)), None)

    def unpack(self, owner: Node, output_nr: int) -> Any:
        """The tensor that the hook gives back, with the history of the one that was saved."""
        tensor = self.unpack_hook(self.value)
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        edge = owner.result_edge(output_nr) if output_nr >= 0 else self.edge
        return tensor if edge is None else with_history(tensor, edge)


def with_history(tensor: Tensor, edge: Edge) -> Tensor:
    """The tensor, as one whose gradient goes along an edge: to a node, or to a leaf's AccumulateGrad.

    It is no view, and an integer tensor has no history.
    """
    result = alias(tensor)
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        return result
    meta = result._autograd_meta = AutogradMeta()
    node, number = edge
    if isinstance(node, AccumulateGrad):
        meta.requires_grad = True
        meta.accumulator = weakref.ref(node)
    else:
        meta.grad_fn, meta.output_nr = node, number
    return result


class SavedVariable:
    """A tensor, and the version it had when it was saved.

    A node's own result is saved without its history: otherwise node and tensor would keep each other alive.
    """

    __slots__ = ("had_node", "output_nr", "tensor", "version")

    tensor: Any  # the tensor, or what hooks made of it: Packed

    def __init__(self, tensor: Tensor, producer: Node | None = None, output_nr: int = -1) -> None:
        if not tensor.key_set & ADINPLACEORVIEW and tensor._number is None:
            raise AutogradError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
            )
        self.output_nr = output_nr  # of the node's result; -1 for an argument
        if (hooks := hooks_in_use()) is not None and tensor._number is None:
            self.tensor = Packed.from_node(hooks, tensor, producer, output_nr)
            self.__class__ = PackedVariable
            return
        self.tensor = tensor if producer is None else alias(tensor)
        counter = tensor._version_counter
        self.version = 0 if counter is None else counter.value
        meta = tensor._autograd_meta
        self.had_node = producer is None and meta is not None and meta.grad_fn is not None

    def unpack(self, owner: Node, shown: bool = False) -> Any:
        """The tensor, with its history; AutogradError if it was changed in place since.

        One that was detached in place may be shown, though no gradient can be computed of it.
        """
        tensor = self.tensor
        counter = tensor._version_counter
        version = 0 if counter is None else counter.value
        if self.had_node and not shown and (tensor._autograd_meta is None or tensor._autograd_meta.grad_fn is None):
            raise AutogradError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
                "supported, please use out-of-place `.detach()` instead"
            )
        if version != self.version:
            raise AutogradError(self._changed(owner, version))
        if self.output_nr < 0:
            return tensor
        if not grad_mode.get() or tensor.dtype.category < FLOATING:
            return alias(tensor) if is_seen(tensor) else tensor
        result = alias(tensor)
        meta = result._autograd_meta = AutogradMeta()
        meta.grad_fn, meta.output_nr = owner.result_edge(self.output_nr)
        if tensor._autograd_meta is not None:
            meta.tangent = tensor._autograd_meta.tangent
        return result

    def own_meta(self) -> AutogradMeta:
        """The record of the tensor that is kept, which for a result has no history but may have a tangent."""
        kept = self.tensor
        if kept._autograd_meta is None:
            kept._autograd_meta = AutogradMeta()
        found: AutogradMeta = kept._autograd_meta
        return found

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Keep `pack_hook(tensor)` in place of the tensor; one pair of hooks is allowed."""
        edge = None if self.output_nr >= 0 else gradient_edge(self.tensor)
        self.tensor = Packed(Pair(pack_hook, unpack_hook), self.tensor, edge)
        self.__class__ = PackedVariable

    def _changed(self, owner: Node, version: int) -> str:
        tensor = self.tensor
        if self.output_nr >= 0:
            of = f", which is output {self.output_nr} of {made_by(owner)},"
        else:
            edge = gradient_edge(tensor)  # a view's node is refreshed from its base
            made = edge is not None and not isinstance(edge[0], AccumulateGrad)
            of = f", which is output {edge[1]} of {made_by(edge[0])}," if edge is not None and made else ""
        hint = (
            "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
            "question was changed in there or anywhere later. Good luck!"
            if is_anomaly_enabled()
            else "enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
        return (
            f"one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[torch.{tensor.dtype.scalar_name}Tensor {list(tensor._shape)}]{of} is at version {version}; "
            f"expected version {self.version} instead. Hint: {hint} {owner.name()} saved it. Change a clone() instead, "
            f"or move the in-place operation behind backward()"
        )


class PackedVariable(SavedVariable):
    """What a saved tensor becomes where hooks decide in which form it is kept."""

    __slots__ = ()

    def unpack(self, owner: Node, shown: bool = False) -> Any:
        """The tensor that the hook gives back, with the history of the one that was saved."""
        return self.tensor.unpack(owner, self.output_nr)

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Refused: there are hooks."""
        raise AutogradError(
            "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
            "is allowed at a time."
        )
