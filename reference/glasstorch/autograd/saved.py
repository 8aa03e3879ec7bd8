"""How does a node save a tensor for the backward pass, and detect that it was changed?

It notes the tensor's version, and checks it against the version counter when the backward pass unpacks the tensor.

Mirrors: torch/csrc/autograd/saved_variable.h
Differs: saved-tensor hooks come with a later part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch._tensor import alias
from glasstorch.autograd.accumulate_grad import AccumulateGrad
from glasstorch.autograd.anomaly_mode import is_anomaly_enabled
from glasstorch.autograd.history import AutogradMeta, gradient_edge
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node, made_by
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import ADINPLACEORVIEW

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class SavedVariable:
    """A tensor, and the version it had when it was saved.

    A node's own result is saved without its history: otherwise node and tensor would keep each other alive.
    """

    __slots__ = ("had_node", "output_nr", "tensor", "version")

    def __init__(self, tensor: Tensor, producer: Node | None = None, output_nr: int = -1) -> None:
        if not tensor.key_set & ADINPLACEORVIEW:
            raise AutogradError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
            )
        self.tensor = tensor if producer is None else alias(tensor)
        self.output_nr = output_nr  # of the node's result; -1 for an argument
        counter = tensor._version_counter
        self.version = 0 if counter is None else counter.value
        meta = tensor._autograd_meta
        self.had_node = producer is None and meta is not None and meta.grad_fn is not None

    def unpack(self, owner: Node) -> Any:
        """The tensor, with its history; AutogradError if it was changed in place since."""
        tensor = self.tensor
        counter = tensor._version_counter
        version = 0 if counter is None else counter.value
        if self.had_node and (tensor._autograd_meta is None or tensor._autograd_meta.grad_fn is None):
            raise AutogradError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
                "supported, please use out-of-place `.detach()` instead"
            )
        if version != self.version:
            raise AutogradError(self._changed(owner, version))
        differentiable = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        if self.output_nr < 0 or not grad_mode.get() or not differentiable:
            return tensor
        result = alias(tensor)
        meta = result._autograd_meta = AutogradMeta()
        meta.grad_fn, meta.output_nr = owner.result_edge(self.output_nr)
        return result

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
