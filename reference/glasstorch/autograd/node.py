"""What is a step of the backward graph, and how does a tensor point to the step that made it?

Mirrors: torch/csrc/autograd/node.h, edge.h, variable.h (AutogradMeta), functions/accumulate_grad.h, VariableTypeUtils.h
Differs: an edge that goes nowhere is None (PyTorch: an Edge without function); nodes are Python objects all the way.
"""

from __future__ import annotations

import enum
import itertools
import re
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Self

from glasstorch._tensor import Tensor, alias
from glasstorch.autograd import anomaly_mode
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import FLOATING, dtype
from glasstorch.core.errors import AutogradError, InplaceError
from glasstorch.core.geometry import Shape, contiguous_strides, is_non_overlapping_and_dense
from glasstorch.core.layout import contiguous_format
from glasstorch.core.tensor_impl import TensorImpl

Edge = tuple["Node", int]  # a node, and which of its inputs: the number of the result that the gradient belongs to
Gradients = Sequence[Any]  # a Tensor or None for each
Metadata = tuple[Shape, dtype, device]  # what a gradient must look like to enter a node at one input

_sequence = itertools.count()
WRITTEN_BY_HAND = frozenset(("CopyBackwards", "CopySlices"))  # each in PyTorch's namespace
LAST = sys.maxsize  # AccumulateGrad runs as soon as it is ready


class Node:
    """One step backwards: turns the gradients of an operator's results into gradients of its arguments.

    `next_edges[i]` says where the gradient of differentiable argument i goes; None if nobody wants it. `sequence_nr`
    grows with time: among nodes that are ready, the engine runs the latest first.
    """

    next_edges: Sequence[Edge | None]
    sequence_nr: int
    # Most nodes keep these as they are, so they stand on the class and cost nothing to make.
    metadata: tuple[Metadata | None, ...] = ()
    released = False
    hooks: NodeHooks | None = None
    within: weakref.ref[Any] | None = None  # the CopySlices that runs this node: Note [In place on a view]
    # In anomaly mode: the lines of the program that made the node, and the node whose backward they were part of.
    forward_traceback: list[str] | None = None
    forward_parent: Node | None = None

    def __init__(self, edges: Sequence[Edge | None]) -> None:
        self.next_edges = edges
        self.sequence_nr = next(_sequence)
        if anomaly_mode.mode.enabled:
            anomaly_mode.remember(self)

    def apply(self, grads: Gradients) -> Gradients:
        """Gradients of the arguments, in the order of `next_edges`, from those of the results."""
        raise AssertionError(f"{type(self).__name__} does not say how to go backwards")

    def release_variables(self) -> None:
        """Let go of what was saved; a second backward through this node is refused from then on."""

    def unpack(self, saved: Any) -> Any:
        """The tensor behind a saved variable."""
        if saved is None:
            if self.released:
                raise AutogradError(
                    "Trying to backward through the graph a second time (or directly access saved tensors after they "
                    "have already been freed). Saved intermediate values of the graph are freed when you call "
                    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
                    "graph a second time or if you need to access saved tensors after calling backward."
                )
            return None
        return saved.unpack(self)

    def result_edge(self, number: int) -> Edge:
        """Where the gradient of a result goes that was saved for a backward pass of the backward pass."""
        slices = None if self.within is None else self.within()
        return (self, number) if slices is None else slices.part_edge()

    def name(self) -> str:
        """The class name: `MulBackward0`; `torch::autograd::CopyBackwards` of one that PyTorch wrote by hand."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in WRITTEN_BY_HAND else name

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The edges as (node, input number); (None, 0) where no gradient is wanted."""
        return tuple((None, 0) if edge is None else edge for edge in self.next_edges)

    def register_hook(self, hook: Callable[[Gradients, Gradients], Any]) -> HookHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node; what it returns replaces the grad_inputs."""
        return HookHandle(self.some_hooks().after, hook)

    def register_prehook(self, hook: Callable[[Gradients], Any]) -> HookHandle:
        """Call `hook(grad_outputs)` before this node; what it returns replaces them."""
        return HookHandle(self.some_hooks().before, hook)

    def some_hooks(self) -> NodeHooks:
        """The hooks of this node, to add one."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __getattr__(self, name: str) -> Any:
        """`_saved_self` is the tensor that was saved, `_saved_dim` the number, as on PyTorch's nodes."""
        slots = type(self).__annotations__  # a generated node declares what it saves
        if name.startswith("_saved_"):
            if name[1:] in slots:
                saved = getattr(self, name[1:])
                return [s and self.unpack(s) for s in saved] if isinstance(saved, list) else self.unpack(saved)
            if name[7:] in slots:
                return getattr(self, name[7:])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        saved = ("_saved_" + slot.removeprefix("saved_") for slot in type(self).__annotations__)
        return [*object.__dir__(self), *saved]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


def made_by(node: Node) -> str:
    """What a node's operator is called in messages: `Exp` for ExpBackward0."""
    return re.sub(r"Backward\d*$", "", node.name())


class NodeHooks:
    """What runs around a node: hooks of its results' tensors, gradients to be kept, hooks before the node and after it.

    Mirrors: tensor_pre_hooks, retains_grad_hooks, pre_hooks and post_hooks of torch::autograd::Node
    """

    __slots__ = ("after", "before", "kept", "of_tensors")

    def __init__(self) -> None:
        self.of_tensors: list[tuple[int, Callable[[Any], Any]]] = []  # with the number of the result
        # retain_grad: result -> the record whose `grad` is set; weak, because the record holds the node.
        self.kept: dict[int, weakref.ref[AutogradMeta]] = {}
        self.before: list[Callable[[Gradients], Any]] = []
        self.after: list[Callable[[Gradients, Gradients], Any]] = []

    def on_arrival(self, grads: list[Any]) -> list[Any]:
        """The gradients of the results are complete: each tensor's hooks may replace its own, then it is kept."""
        for number, hook in tuple(self.of_tensors):
            if grads[number] is not None:
                changed = hook(grads[number])
                if changed is not None:
                    _check_replaced(grads[number], changed, hook)
                    grads[number] = changed
        for number, reference in self.kept.items():
            meta = reference()
            if meta is not None and grads[number] is not None:
                if meta.grad is None:  # a copy, for the reader may write into it
                    meta.grad = grads[number].clone(memory_format=contiguous_format)
                else:
                    meta.grad = meta.grad + grads[number]
        return grads

    def before_node(self, grads: list[Any]) -> list[Any]:
        """The node is about to run: its hooks may replace all gradients."""
        for hook in tuple(self.before):
            changed = hook(tuple(grads))
            if changed is not None:
                _check_all_replaced(grads, changed, hook)
                grads = list(changed)
        return grads

    def after_node(self, results: Gradients, grads: Gradients) -> Gradients:
        """The node has run: its hooks may replace what it made."""
        for hook in tuple(self.after):
            changed = hook(tuple(results), tuple(grads))
            if changed is not None:
                _check_all_replaced(results, changed, hook)
                results = changed
        return results


def _check_all_replaced(old: Gradients, new: Any, hook: Any) -> None:
    """Refuse what a node's hook returned unless it is a tuple of gradients that may stand for the old ones."""
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
    """Refuse a gradient that a hook returned in place of another, unless it is a tensor of the same kind.

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


def _name_of(hook: Any) -> str:
    return getattr(hook, "__name__", "<unknown>")


def _type_of(tensor: Tensor) -> str:
    device = "" if tensor.device.type == "cpu" else f" on {tensor.device}"
    return f"torch.{tensor.dtype.scalar_name}Tensor{device}"


class HookHandle:
    """What registering a hook returns; `remove()` takes it out again."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks, self._hook = hooks, hook
        hooks.append(hook)

    def remove(self) -> None:
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


class MadeBy(enum.Enum):
    """How a view was made, where a recorded change in place of it or of its base would give wrong gradients.

    Mirrors: CreationMeta in torch/csrc/autograd/variable.h, without DEFAULT, which is None here
    """

    NO_GRAD = "in no_grad mode"
    INFERENCE = "in inference mode"
    SEVERAL = "by an operator that returns several views"
    FUNCTION = "in a custom Function"


class AutogradMeta:
    """What autograd knows about one tensor; a tensor that no gradient concerns has none.

    A view has `base`, the tensor whose storage it shows, and `seen_version`, the version at which `grad_fn` was right;
    `made` is set where the way the view was made forbids to record changes in place.
    """

    grad_fn: Node | None = None
    output_nr = 0
    requires_grad = False  # set by the user, on leaves
    grad: Tensor | None = None
    accumulator: weakref.ref[AccumulateGrad] | None = None
    hooks: list[tuple[int, Callable[[Any], Any]]] | None = None  # of a leaf; its AccumulateGrad comes and goes
    base: Tensor | None = None
    made: MadeBy | None = None
    seen_version = 0
    retains_grad = False
    post_accumulate_hooks: list[Callable[[Any], Any]] | None = None


class AccumulateGrad(Node):
    """The end of an edge at a leaf: adds what arrives to the leaf's `.grad`."""

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


# Passes in several threads may end at one leaf. PyTorch has a lock for each; this one is held for an addition only.
_accumulating = threading.RLock()


def _references_when_unshared() -> int:
    """What `_first_gradient` counts for a gradient that nobody but the engine has; it depends on the interpreter.

    The calls are those between the engine's list and the count: each may hold a reference, or borrow one.
    """

    def count(variable: object, grad: object) -> int:
        return sys.getrefcount(grad)

    def apply(grads: Sequence[object]) -> int:
        grad = grads[0]
        return count(None, grad)

    return apply([object()])


UNSHARED = _references_when_unshared()


def _first_gradient(variable: Tensor, grad: Tensor) -> Tensor:
    """A gradient to keep: the tensor itself where nobody else has it and it is laid out like the leaf, else a copy.

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
        if variable._strides is None:  # row-major, said in the short way that kernels know at a glance
            kept._strides = None
        return kept
    if laid_out_alike:
        return grad.clone()
    return grad.new_empty_strided(grad._shape, strides).copy_(grad)


# From tensors to edges ------------------------------------------------------------------------------------------


def requires_grad(tensor: TensorImpl) -> bool:
    """What a tensor says to `requires_grad`: it was asked to, it has a node, or it is a view of one that does."""
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
        from glasstorch.autograd.views import refresh_view  # views.py reads this module

        refresh_view(tensor, meta)
    grad_fn = meta.grad_fn
    if grad_fn is not None:
        return grad_fn, meta.output_nr
    if not meta.requires_grad:
        return None
    return grad_accumulator(tensor), 0


def gradient_edges(tensors: Sequence[Tensor | None]) -> tuple[Edge | None, ...]:
    """The edges of several tensors."""
    return tuple(map(gradient_edge, tensors))


def grad_accumulator(leaf: Tensor) -> AccumulateGrad:
    """The one AccumulateGrad of a leaf, made when first needed and alive while some graph holds it."""
    meta = leaf._autograd_meta
    node = meta.accumulator() if meta.accumulator is not None else None
    if node is None:
        node = AccumulateGrad(leaf)
        meta.accumulator = weakref.ref(node)
    return node


def set_history(result: Tensor, node: Node) -> None:  # hot path: benchmarks/eager.py
    """Make a node the one that produced a result; an integer result has no history."""
    dtype, storage = result.dtype, result._storage
    node.metadata = ((result._shape, dtype, CPU if storage is None else storage.device),)
    if dtype.category < FLOATING:
        return
    meta = result._autograd_meta
    if meta is None:
        meta = result._autograd_meta = AutogradMeta()
    elif meta.base is not None:
        meta.seen_version = result._version
    meta.grad_fn = node


def set_histories(results: Sequence[Tensor | None], node: Node) -> None:
    """Make a node the one that produced several results; None stands for one that carries no gradient."""
    metadata: list[Metadata | None] = []
    for i, result in enumerate(results):
        if result is None:
            metadata.append(None)
            continue
        set_history(result, node)
        metadata += node.metadata
        if result._autograd_meta is not None:
            result._autograd_meta.output_nr = i
    node.metadata = tuple(metadata)


def refuse_complex(result: Tensor, operator: str) -> None:
    """Refuse a complex result of an operator whose derivative is that of real numbers only."""
    if result.dtype.is_complex:
        raise AutogradError(f"{operator} does not support automatic differentiation for outputs with complex dtype.")


def refuse_integers(result: Tensor) -> None:
    """Refuse a result that was asked for in a dtype of integers, which has no gradient, of what requires grad.

    Mirrors: set_history in torch/csrc/autograd/functions/utils.h
    """
    if result.dtype.category < FLOATING:
        raise AutogradError(
            f"Autograd not support dtype: {result.dtype.scalar_name}. The result would require grad, so its dtype must "
            "be floating point or complex; detach() the input, or use no_grad(), to compute it in this one"
        )


def check_inplace(tensor: Tensor) -> None:
    """Refuse to change in place what a gradient needs unchanged. Called when the change would be recorded."""
    meta = tensor._autograd_meta
    if meta is None:
        return
    if meta.base is not None:
        check_rebase(meta, "is being")
        base_meta = meta.base._autograd_meta
        if requires_grad(tensor) and (base_meta is None or base_meta.grad_fn is None):
            raise InplaceError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        return
    if meta.requires_grad and meta.grad_fn is None:
        raise InplaceError("a leaf Variable that requires grad is being used in an in-place operation.")


def check_rebase(meta: AutogradMeta, changed: str) -> None:
    """Refuse to give a view a new node after a change in place, where the way it was made makes that ambiguous.

    `changed` says what was changed: the view "is being", or "its base or another view of its base has been".

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

    Where the tensor is a view, so it does for a part of its base: Note [In place on a view]. The tensor's hooks stay
    with the old value; a gradient that is to be kept is the new one's.
    """
    node.metadata = ((tensor._shape, tensor.dtype, tensor.device),)
    meta = tensor._autograd_meta
    if meta is None:
        meta = tensor._autograd_meta = AutogradMeta()
    elif meta.base is not None:
        from glasstorch.autograd.copy_slices import rebase_view  # it reads this module

        rebase_view(tensor, meta, node)
        return
    keep_gradient_at(meta, node)
    meta.grad_fn, meta.output_nr = node, 0


def turn_history(tensor: Tensor, node: Node) -> None:
    """After an operator that changed where a tensor looks: its elements are what they were, and so is its base."""
    node.metadata = ((tensor._shape, tensor.dtype, tensor.device),)
    meta = tensor._autograd_meta
    keep_gradient_at(meta, node)
    meta.grad_fn, meta.output_nr = node, 0
    meta.seen_version = tensor._version


def keep_gradient_at(meta: AutogradMeta, node: Node) -> None:
    """Where a tensor's gradient is to be kept, let its new node do that, as its result 0, and no longer the old one."""
    if meta.retains_grad and meta.grad_fn is not None:
        meta.grad_fn.some_hooks().kept.pop(meta.output_nr, None)
        node.some_hooks().kept[0] = weakref.ref(meta)
