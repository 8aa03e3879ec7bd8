"""What is a node of the backward graph?

Mirrors: torch/csrc/autograd/node.h, edge.h
Differs: an edge that leads nowhere is None (PyTorch: an Edge without function); all nodes are Python objects.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter, length_hint
from typing import Any

from glasstorch.autograd import anomaly_mode
from glasstorch.autograd.hooks import Gradients, HookHandle, NodeHooks
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import AutogradError
from glasstorch.core.geometry import Shape

Edge = tuple["Node", int]  # a node, and which of its inputs: the number of the result that the gradient belongs to
Metadata = tuple[Shape, dtype, device]  # the shape, dtype and device that a gradient must have at one input of a node
Getter = Callable[["Node"], Any]

# What a generated node's annotations say of a fact that it keeps: how `_saved_*` hands it out. PyTorch's names are
# those of the C++ functions that gave the fact, and its integers are unsigned: a dim of -1 is read as 2**64 - 1.
Integers = Any  # an integer or several: unsigned
Sizes = Any  # `self_shape` is read as `_saved_self_sym_sizes`
SizesOrNone = Any  # the same of an argument that may be None: `_saved_bias_sym_sizes_opt`, (0,) for None
Geometry = Any  # `self_geometry` is read as `_saved_self_sym_sizes` and `_saved_self_sym_strides`
Unseen = Any  # a dtype, a device: PyTorch has no getter for it

NUMBERS = 1 << 62  # more than there will be nodes
_sequence = iter(range(NUMBERS))
_getters: dict[type, dict[str, Getter]] = {}  # filled by `getters`
WRITTEN_BY_HAND = frozenset(("AccumulateGrad", "CopyBackwards", "CopySlices"))  # each in PyTorch's namespace


def upcoming_sequence_nr() -> int:
    """The sequence number of the node that is made next."""
    return NUMBERS - length_hint(_sequence)


class Node:
    """One backward step: turns the gradients of an operator's results into gradients of its arguments.

    `next_edges[i]` says where the gradient of differentiable argument i goes; None if it is not needed. `sequence_nr`
    increases with time: among nodes that are ready, the engine runs the latest first.
    """

    next_edges: Sequence[Edge | None]
    sequence_nr: int
    # Most nodes keep these defaults, so they are class attributes and cost nothing per node.
    metadata: tuple[Metadata | None, ...] = ()
    released = False
    hooks: NodeHooks | None = None
    within: weakref.ref[Any] | None = None  # the CopySlices that runs this node: Note [In place on a view]
    # In anomaly mode: the traceback that created the node, and the node that was running backward at the time.
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
        """Release saved tensors; a second backward through this node then raises an error."""

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
        """The edge of a saved result, for double backward."""
        slices = None if self.within is None else self.within()
        return (self, number) if slices is None else slices.part_edge()

    def name(self) -> str:
        """The class name: `MulBackward0`; `torch::autograd::CopyBackwards` for a node that PyTorch wrote by hand."""
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
        """The hooks of this node, created on first use."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __getattr__(self, name: str) -> Any:
        """`_saved_self` is the tensor that was saved, `_saved_dim` the number, as on PyTorch's nodes."""
        if name.startswith(("_saved_", "_raw_saved_")) and (how := getters(type(self)).get(name)) is not None:
            return how(self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *getters(type(self))]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


def getters(kind: type[Node]) -> dict[str, Getter]:
    """The names under which a kind of node shows what it saves, and how each is read."""
    if kind not in _getters:
        _getters[kind] = dict(_each_getter(kind))
    return _getters[kind]


def _each_getter(kind: type[Node]) -> Iterator[tuple[str, Getter]]:
    for slot, told in kind.__annotations__.items():  # a generated node declares what it saves
        if slot.startswith("saved_"):
            yield "_" + slot, partial(_variable, slot)
            yield "_raw_" + slot, partial(_raw_variable, slot)
        elif told == "Sizes":
            yield f"_saved_{slot.removesuffix('shape')}sym_sizes", attrgetter(slot)
        elif told == "SizesOrNone":
            yield f"_saved_{slot.removesuffix('shape')}sym_sizes_opt", partial(_sizes_or_zero, slot)
        elif told == "Geometry":
            owner = slot.removesuffix("geometry")
            yield f"_saved_{owner}sym_sizes", partial(_part, slot, 0)
            yield f"_saved_{owner}sym_strides", partial(_part, slot, 1)
        elif told == "Integers":
            yield "_saved_" + slot, partial(_unsigned_fact, slot)
        elif told != "Unseen":
            yield "_saved_" + slot, attrgetter(slot)


def _variable(slot: str, node: Node) -> Any:
    saved = getattr(node, slot)
    return tuple(s and node.unpack(s) for s in saved) if isinstance(saved, list) else node.unpack(saved)


def _raw_variable(slot: str, node: Node) -> Any:
    saved = getattr(node, slot)
    if saved is None:
        return node.unpack(None)  # raises if it was released
    return tuple(saved) if isinstance(saved, list) else saved


def _sizes_or_zero(slot: str, node: Node) -> Any:
    sizes = getattr(node, slot)
    return (0,) if sizes is None else sizes


def _part(slot: str, number: int, node: Node) -> Any:
    return getattr(node, slot)[number]


def _unsigned_fact(slot: str, node: Node) -> Any:
    return _unsigned(getattr(node, slot))


def _unsigned(value: Any) -> Any:
    if isinstance(value, list | tuple | range):
        return tuple(map(_unsigned, value))
    return value % 2**64 if type(value) is int else value


def made_by(node: Node) -> str:
    """The name of a node's operator in messages: `Exp` for ExpBackward0."""
    return re.sub(r"Backward\d*$", "", node.name())
