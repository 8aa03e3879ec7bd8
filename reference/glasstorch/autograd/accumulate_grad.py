"""What happens to a gradient that arrives at a leaf?

Mirrors: torch/csrc/autograd/functions/accumulate_grad.h, accumulate_grad.cpp
Differs: Python's reference count tells whether only the engine holds the gradient.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

from glasstorch._tensor import Tensor, alias
from glasstorch.autograd import anomaly_mode
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.core.geometry import contiguous_strides, is_non_overlapping_and_dense

LAST = sys.maxsize  # AccumulateGrad runs as soon as it is ready


class AccumulateGrad(Node):
    """The node of a leaf: adds incoming gradients to the leaf's `.grad`."""

    next_edges = ()
    sequence_nr = LAST

    def __init__(self, variable: Tensor) -> None:
        self.variable = variable
        self.metadata = ((variable._shape, variable.dtype, variable.device),)
        hooks = variable._autograd_meta.hooks
        if hooks is not None:
            self.some_hooks().of_tensors = hooks
        if anomaly_mode.mode.enabled:
            anomaly_mode.remember(self)

    def apply(self, grads: Gradients) -> Gradients:
        grad = grads[0]
        if grad is None:
            return ()
        variable = self.variable
        meta = variable._autograd_meta
        with _accumulating:
            if meta.grad is None:
                meta.grad = _first_gradient(variable, grad)
            elif grad_mode.get():  # create_graph: the sum must have a history
                meta.grad = meta.grad + grad
            else:
                meta.grad += grad
        for hook in tuple(meta.post_accumulate_hooks or ()):
            hook(variable)
        return ()


# Backward passes of several threads may reach one leaf. PyTorch has a lock per leaf; this one is held for one addition.
_accumulating = threading.RLock()


def _references_when_unshared() -> int:
    """The count that `_first_gradient` sees for a gradient that only the engine holds; it depends on the interpreter.

    It makes the same calls as between the engine's list and the count: each may hold a reference, or borrow one.
    """

    def count(variable: object, grad: object) -> int:
        return sys.getrefcount(grad)

    def apply(grads: Sequence[object]) -> int:
        grad = grads[0]
        return count(None, grad)

    return apply([object()])


UNSHARED = _references_when_unshared()


def _first_gradient(variable: Tensor, grad: Tensor) -> Tensor:
    """A gradient to keep: the tensor itself if it is unshared and has the leaf's layout, else a copy.

    Mirrors: AccumulateGrad::accumulateGrad, the case `!variable_grad.defined()`, and utils/grad_layout_contract.h
    """
    strides = variable.strides()
    if variable._strides is not None and not is_non_overlapping_and_dense(variable._shape, strides):
        strides = contiguous_strides(variable._shape)
    laid_out_alike = grad.strides() == strides
    if grad_mode.get():
        return grad.clone() if laid_out_alike else grad.new_empty_strided(grad._shape, strides).copy_(grad)
    if laid_out_alike and sys.getrefcount(grad) <= UNSHARED:
        kept = alias(grad)
        if variable._strides is None:  # row-major, in the short form that kernels recognise fastest
            kept._strides = None
        return kept
    if laid_out_alike:
        return grad.clone()
    return grad.new_empty_strided(grad._shape, strides).copy_(grad)
