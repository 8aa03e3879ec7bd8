"""How does a tensor refer to the node that produced it?

Mirrors: torch/csrc/autograd/variable.h (AutogradMeta), VariableTypeUtils.h, functions/utils.h
Differs: views call the files above this one through a Protocol.
"""

from __future__ import annotations

import enum
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from glasstorch._tensor import Tensor
from glasstorch.autograd.accumulate_grad import AccumulateGrad
from glasstorch.autograd.hooks import AssignedHooks, HooksOfTensor
from glasstorch.autograd.node import Edge, Metadata, Node, NoEdge, Nowhere, made_by, note
from glasstorch.core.device import CPU
from glasstorch.core.dtype import FLOATING
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import AutogradError, InplaceError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.devices.runtime import new_nodes


class MadeBy(enum.Enum):
    """How a view was made, if recording an in-place change of it or of its base would give wrong gradients.

    Mirrors: CreationMeta in torch/csrc/autograd/variable.h, without DEFAULT, which is None here
    """

    NO_GRAD = "in no_grad mode"
    INFERENCE = "in inference mode"
    SEVERAL = "by an operator that returns several views"
    FUNCTION = "in a custom Function"


class AutogradMeta:
    """Autograd's record of one tensor; a tensor that takes no part in differentiation has none.

    A view has `base`, the tensor whose storage it shares, and `seen_version`, the version for which `grad_fn` is valid;
    `made` is set if the way the view was made forbids recording in-place changes.
    """

    grad_fn: Node | None = None
    output_nr = 0
    requires_grad = False  # set by the user, on leaves
    grad: Tensor | None = None
    # The dtype to which a leaf's gradients are cast, if it was set (None: they keep theirs), and its AccumulateGrad,
    # which must know it and is kept for that.
    grad_dtype: tuple[Dtype | None, AccumulateGrad] | None = None
    accumulator: weakref.ref[AccumulateGrad] | None = None
    lock: threading.RLock | None = None  # of `grad`, while an accumulator adds to it
    hooks: HooksOfTensor | AssignedHooks | None = None  # a leaf's AccumulateGrad comes and goes
    base: Tensor | None = None
    made: MadeBy | None = None
    seen_version = 0
    steps: tuple[Any, ...] | None = None  # of a view, where the dtype or a bit changes on the way to it: seen.py
    retains_grad = False
    post_accumulate_hooks: OrderedDict[int, Callable[[Any], Any]] | None = None
    tangent: Tensor | None = None  # of forward mode: autograd/tangents.py
    follows_base = True  # whether a view has a view of its base's tangent


# Views: implemented by files that import this one ---------------------------------------------------------------


class ViewHooks(Protocol):
    """Operations on a view whose base has a history."""

    def refresh_view(self, view: Tensor, meta: AutogradMeta) -> None:
        """Update a view's node to the current history of its base."""

    def rebase_view(self, view: Tensor, meta: AutogradMeta, function: Node) -> None:
        """Make an in-place change of a view part of its base's history."""


view_hooks: ViewHooks


def set_view_hooks(hooks: ViewHooks) -> None:
    """Called once by copy_slices.py."""
    global view_hooks
    view_hooks = hooks


# From tensors to edges ------------------------------------------------------------------------------------------


def requires_grad(tensor: TensorImpl) -> bool:
    """The value of `requires_grad`: set by the user, or the tensor has a node, or its base requires grad."""
    meta = tensor._autograd_meta
    return meta is not None and (
        meta.requires_grad or meta.grad_fn is not None or (meta.base is not None and requires_grad(meta.base))
    )


def gradient_edge(tensor: Tensor | None) -> Edge | None:  # hot path: benchmarks/eager.py
    """Where the gradient of a tensor goes: its node and result number, a leaf's AccumulateGrad, or nowhere."""
    if tensor is None:
        return None
    meta = tensor._autograd_meta
    if meta is None:
        return None
    if meta.base is not None and meta.seen_version != tensor._version:
        view_hooks.refresh_view(tensor, meta)
    grad_fn = meta.grad_fn
    if grad_fn is not None:
        return grad_fn, meta.output_nr
    if meta.requires_grad:
        return grad_accumulator(tensor), 0
    if (base := meta.base) is not None and base is not tensor and requires_grad(base):
        return NoEdge((Nowhere((tensor._shape, tensor.dtype, tensor.device)), 0))
    return None


def gradient_edges(tensors: Sequence[Tensor | None]) -> tuple[Edge | None, ...]:
    """The edges of several tensors."""
    return tuple(map(gradient_edge, tensors))


def grad_accumulator(leaf: Tensor) -> AccumulateGrad:  # hot path: benchmarks/eager.py
    """A leaf's only AccumulateGrad, created on first use and alive as long as a graph holds it."""
    meta: AutogradMeta = leaf._autograd_meta
    before = meta.accumulator
    if before is not None and (node := before()) is not None:
        return node
    _begin_making()
    try:
        if meta.accumulator is not before:  # the graph of another thread begins at the same leaf, and was first
            return grad_accumulator(leaf)
        node = _new(AccumulateGrad)  # its class is not called: that would cost a third more
        node.variable, storage = leaf, leaf._storage
        node.input_metadata = ((leaf._shape, leaf.dtype, CPU if storage is None else storage.device),)
        if meta.hooks is not None:
            node.some_hooks().of_tensors = meta.hooks.of_node
        if new_nodes.note_more:
            note(node)
        meta.accumulator = weakref.ref(node)
        return node
    finally:
        _end_making()


_making_accumulator = threading.RLock()
_new = object.__new__
_begin_making, _end_making = _making_accumulator.acquire, _making_accumulator.release


def set_history(result: Tensor, node: Node) -> None:  # hot path: benchmarks/eager.py
    """Set a node as the producer of a result; an integer result has no history."""
    dtype, storage = result.dtype, result._storage
    node.input_metadata = ((result._shape, dtype, CPU if storage is None else storage.device),)
    if dtype.category < FLOATING:
        return
    meta = result._autograd_meta
    if meta is None:
        meta = result._autograd_meta = AutogradMeta()
    elif meta.base is not None:
        meta.seen_version = result._version
    meta.grad_fn = node


def set_histories(results: Sequence[Tensor | None], node: Node) -> None:
    """Set a node as the producer of several results; None stands for one that carries no gradient."""
    metadata: list[Metadata | None] = []
    for i, result in enumerate(results):
        if result is None:
            metadata.append(None)
            continue
        set_history(result, node)
        metadata += node.input_metadata
        if result._autograd_meta is not None:
            result._autograd_meta.output_nr = i
    node.input_metadata = tuple(metadata)


def refuse_complex(result: Tensor, operator: str) -> None:
    """Refuse a complex result of an operator whose derivative is only defined for real numbers."""
    if result.dtype.is_complex:
        raise AutogradError(f"{operator} does not support automatic differentiation for outputs with complex dtype.")


def refuse_integers(result: Tensor) -> None:
    """Refuse an integer result, which can have no gradient, if the operator's inputs require grad.

    Mirrors: set_history in torch/csrc/autograd/functions/utils.h
    """
    if result.dtype.category < FLOATING:
        raise AutogradError(
            f"Autograd not support dtype: {result.dtype.scalar_name}. The result would require grad, so its dtype must "
            "be floating point or complex; detach() the input, or use no_grad(), to compute it in this one"
        )


def check_inplace(tensor: Tensor) -> None:
    """Refuse to record an in-place change of a leaf that requires grad, or of a view of one."""
    meta = tensor._autograd_meta
    if meta is None:
        return
    if meta.base is not None:
        check_rebase(meta, "is being")
        base_meta = meta.base._autograd_meta
        if requires_grad(tensor) and (base_meta is None or base_meta.grad_fn is None):
            raise InplaceError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if meta.grad_fn is None and requires_grad(tensor):  # a view's node as it was: PyTorch asks for no new one here
        raise InplaceError("a leaf Variable that requires grad is being used in an in-place operation.")


def check_rebase(meta: AutogradMeta, changed: str) -> None:
    """Refuse to give a view a new node after an in-place change if the way it was made makes that ambiguous.

    `changed` says what is modified: the view "is being", or "its base or another view of its base has been".

    Mirrors: handle_view_on_rebase in torch/csrc/autograd/variable.cpp
    """
    made, node = meta.made, meta.grad_fn
    if made is None:
        return
    output = None if node is None else f"Output {meta.output_nr} of {made_by(node)} is a view"
    inference = made is MadeBy.INFERENCE
    if output is not None and made is not MadeBy.NO_GRAD and not inference:
        what = f"{output} and {changed} modified inplace."
    else:
        view = "A view was" if output is None else f"{output} of a view which was"
        mode, now = ("inference", "in normal mode") if inference else ("no_grad", "with grad mode enabled")
        what = f"{view} created in {mode} mode and {changed} modified inplace {now}."
    if made is MadeBy.SEVERAL:
        raise InplaceError(
            f"{what} This view is the output of a function that returns multiple views. Such functions do not allow "
            f"the output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    if made is MadeBy.FUNCTION:
        raise InplaceError(
            f"{what} This view was created inside a custom Function (or because an input was returned as-is) and the "
            f"autograd logic to handle view+inplace would override the custom backward associated with the custom "
            f"Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
            f"output of the custom Function."
        )
    block = "inference_mode" if inference else "no_grad"
    raise InplaceError(
        f"{what} Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
        f"moving both the view and the inplace either both inside the {block} block (if you don't want the inplace to "
        f"be tracked) or both outside (if you want the inplace to be tracked)."
    )


def rebase_history(tensor: Tensor, node: Node) -> None:
    """After an in-place operator: the node becomes the one that produced the tensor's new value.

    For a view, the node also replaces a part of its base's history: Note [In place on a view]. The tensor's hooks stay
    with the old value; retain_grad applies to the new one.
    """
    node.input_metadata = ((tensor._shape, tensor.dtype, tensor.device),)
    meta = tensor._autograd_meta
    if meta is None:
        meta = tensor._autograd_meta = AutogradMeta()
    elif meta.base is not None:
        view_hooks.rebase_view(tensor, meta, node)
        return
    keep_gradient_at(meta, node)
    meta.grad_fn, meta.output_nr = node, 0


def turn_history(tensor: Tensor, node: Node) -> None:
    """After an operator that changed a tensor's geometry in place: its elements and its base are unchanged.

    A gradient that it retains is that of its old geometry, as in PyTorch, whose codegen moves it for other operators.
    """
    node.input_metadata = ((tensor._shape, tensor.dtype, tensor.device),)
    meta = tensor._autograd_meta
    meta.grad_fn, meta.output_nr = node, 0
    meta.seen_version = tensor._version


def keep_gradient_at(meta: AutogradMeta, node: Node) -> None:
    """If a tensor retains its gradient, move that from the old node to the new one, as its result 0."""
    if meta.retains_grad and meta.grad_fn is not None:
        kept = meta.grad_fn.some_hooks().kept
        if meta.output_nr in kept:  # it was not moved past a change of geometry
            node.some_hooks().kept[0] = kept.pop(meta.output_nr)
