"""What happens to a gradient that arrives at a leaf?

Mirrors: torch/csrc/autograd/functions/accumulate_grad.h, accumulate_grad.cpp
Differs: Python's reference count tells whether only the engine holds the gradient.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor, taken_over, without_history
from glasstorch.autograd.engine_modes import enforces_layout
from glasstorch.autograd.hooks import Gradients, check_returned_nothing
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import LAST, Node, Unseen
from glasstorch.core.errors import AutogradError
from glasstorch.core.geometry import contiguous_strides, is_non_overlapping_and_dense
from glasstorch.core.keys import SPARSE
from glasstorch.core.layout import contiguous_format


class AccumulateGrad(Node):
    """The node of a leaf: adds incoming gradients to the leaf's `.grad`. `grad_accumulator` in history.py makes it."""

    next_edges = ()
    sequence_nr = LAST

    variable: Unseen  # the leaf is no fact that the node has saved

    def apply(self, grads: Gradients) -> Gradients:
        grad = grads[0]
        if grad is None:
            return ()
        variable = self.variable
        meta = variable._autograd_meta
        if not meta.requires_grad or meta.base is not None or meta.grad_fn is not None:  # no longer as it was recorded
            if variable.grad_fn is not None:
                raise AutogradError("leaf variable has been moved into the graph interior")
            if not variable.requires_grad:
                return ()
        with meta.lock or _made_lock(meta):
            if meta.grad is None:
                shared = sys.getrefcount(grad) > UNSHARED
                meta.grad = _first_gradient(variable, grad, shared)
            elif grad_mode.get():  # create_graph: the sum must have a history
                meta.grad = meta.grad + grad
            elif meta.grad.key_set & SPARSE and not grad.key_set & SPARSE:
                meta.grad = grad + meta.grad  # a sparse tensor cannot hold the sum
            else:
                meta.grad += grad
            for hook in tuple((meta.post_accumulate_hooks or {}).values()):
                check_returned_nothing(variable, hook(variable), hook)
        return ()


def _made_lock(meta: Any) -> threading.RLock:
    """The lock of a leaf's gradient: passes of several threads may reach the leaf, whose hooks see a whole gradient."""
    lock: threading.RLock = meta.__dict__.setdefault("lock", threading.RLock())  # the first, where two ask at once
    return lock


def _references_when_unshared() -> int:
    """The count that an accumulator sees for a gradient that only the engine holds; it depends on the interpreter.

    It makes the same call as between the engine's list and the count: it may hold a reference, or borrow one.
    """

    def apply(grads: Sequence[object]) -> int:
        grad = grads[0]
        return sys.getrefcount(grad)

    return apply([object()])


UNSHARED = _references_when_unshared()


def _first_gradient(variable: Tensor, grad: Tensor, shared: bool) -> Tensor:
    """A gradient to keep: the tensor itself if nothing else holds it and it has the leaf's layout, else a copy.

    Mirrors: AccumulateGrad::accumulateGrad, the case `!variable_grad.defined()`, and utils/grad_layout_contract.h
    """
    if grad.key_set & SPARSE:  # there is no layout to have; the parts are the leaf's own if nothing else holds them
        return grad.clone() if shared or grad_mode.get() else taken_over(grad)
    strides = variable.strides()
    is_dense = variable._strides is None or is_non_overlapping_and_dense(variable._shape, strides)
    if not is_dense or variable.key_set & SPARSE:
        is_dense, strides = False, contiguous_strides(variable._shape)
    if grad_mode.get():  # recorded: as CopyBackwards, or CloneBackward0
        if not is_dense:
            return grad.clone(memory_format=contiguous_format)
        return grad.new_empty_strided(variable._shape, strides).copy_(grad)
    laid_out_alike = grad.strides() == strides
    if (laid_out_alike or not enforces_layout.get()) and not shared:
        kept = without_history(grad)
        if variable._strides is None:  # row-major, in the short form that kernels recognise fastest
            kept._strides = None
        return kept
    if laid_out_alike:
        return grad.clone()
    return grad.new_empty_strided(variable._shape, strides).copy_(grad)
