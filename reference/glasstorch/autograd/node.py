"""What is a node of the backward graph?

Mirrors: torch/csrc/autograd/node.h, edge.h
Differs: an edge that leads nowhere is None (PyTorch: an Edge without function); all nodes are Python objects.
"""

from __future__ import annotations

import re
import threading
import weakref
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from operator import attrgetter, length_hint
from typing import Any, NamedTuple

from glasstorch.autograd import anomaly_mode
from glasstorch.autograd.hooks import Gradients, NodeHooks, registered
from glasstorch.core.device import device
from glasstorch.core.dtype import complex128, dtype, float64
from glasstorch.core.errors import AutogradError
from glasstorch.core.geometry import Shape
from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.devices import runtime
from glasstorch.devices.runtime import new_nodes

Edge = tuple["Node", int]  # a node, and which of its inputs: the number of the result that the gradient belongs to
# The shape, dtype and device that a gradient must have at one input of a node; any dtype where there is None.
Metadata = tuple[Shape, dtype | None, device]
Getter = Callable[["Node"], Any]

# In a pass that computes some gradients only: whether one is wanted at a node.
wanted_at: ContextVar[Callable[[Node], bool] | None] = ContextVar("wanted_at", default=None)


class _Pruning:
    """How many such passes run now, in all threads: while there is none, nodes need not ask."""

    passes = 0


pruning = _Pruning()
_pruning_changes = threading.Lock()


@contextmanager
def only_wanted(wanted: Callable[[Node], bool] | None) -> Iterator[None]:
    """Inside, nodes compute the gradients alone that are wanted; all of them where None is given."""
    token = wanted_at.set(wanted)
    with _pruning_changes:
        pruning.passes += 1
    try:
        yield
    finally:
        with _pruning_changes:
            pruning.passes -= 1
        wanted_at.reset(token)


class InputMetadata(NamedTuple):
    """What a gradient must be that arrives at one input of a node."""

    shape: Shape
    dtype: dtype | None
    device: device
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


# What a generated node's annotations say of a fact that it keeps: how `_saved_*` hands it out. PyTorch's names are
# those of the C++ functions that gave the fact, and its integers are unsigned: a dim of -1 is read as 2**64 - 1.
Integers = Any  # an integer or several: unsigned
Sizes = Any  # `self_shape` is read as `_saved_self_sym_sizes`
SizesOrNone = Any  # the same of an argument that may be None: `_saved_bias_sym_sizes_opt`, (0,) for None
Size = Any  # `self_size_0` is read as `_saved_self_sym_argsize_0`
Dim = Any  # `self_ndim` is read as `_saved_self_dim`
Numel = Any  # `self_numel` is read as `_saved_self_sym_numel`
Geometry = Any  # `self_geometry` is read as `_saved_self_sym_sizes` and `_saved_self_sym_strides`
Unseen = Any  # a dtype, a device: PyTorch has no getter for it

ON_THE_CALLERS_THREAD = ("cpu", "meta")  # types of devices: others have a thread, and streams
LAST = 2**64 - 1  # the number of a node that runs as soon as it is ready
NUMBERS = 1 << 62  # more than there will be nodes
_sequence = iter(range(NUMBERS))
_getters: dict[type, dict[str, Getter]] = {}  # filled by `getters`
WRITTEN_BY_HAND = frozenset(("AccumulateGrad", "CopyBackwards", "CopySlices"))  # each in PyTorch's namespace


def upcoming_sequence_nr() -> int:
    """The sequence number of the node that is made next."""
    return NUMBERS - length_hint(_sequence)


class Node(ABC):
    """One backward step: turns the gradients of an operator's results into gradients of its arguments.

    `next_edges[i]` says where the gradient of differentiable argument i goes; None if it is not needed. `sequence_nr`
    increases with time: among nodes that are ready, the engine runs the latest first.
    """

    next_edges: Sequence[Edge | None]
    sequence_nr: int
    # Most nodes keep these defaults, so they are class attributes and cost nothing per node.
    input_metadata: tuple[Metadata | None, ...] = ()
    released = False
    of_user = False  # whether a user wrote its backward step
    hooks: NodeHooks | None = None
    streams: Mapping[int, int] | None = None  # by device: Note [Streams of a backward pass]
    within: weakref.ref[Any] | None = None  # the CopySlices that runs this node: Note [In place on a view]
    _metadata: dict[str, Any] | None = None

    def __init__(self, edges: Sequence[Edge | None]) -> None:
        self.next_edges = edges
        self.sequence_nr = next(_sequence)
        if new_nodes.note_more:
            note(self)

    def apply(self, grads: Gradients) -> Gradients:
        """Gradients of the arguments, in the order of `next_edges`, from those of the results."""
        raise AssertionError(f"{type(self).__name__} does not say how to go backwards")

    def release_variables(self) -> None:  # noqa: B027 (nothing to release in a node that saves nothing)
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

    def unpack_list(self, saved: list[Any] | None) -> list[Any]:
        """The tensors behind saved variables, None for one that was None; an empty list where none were needed."""
        if saved is None:
            return self.unpack(None) or []
        return [None if s is None else s.unpack(self) for s in saved]

    def wanted_edges(self) -> tuple[Edge | None, ...]:
        """The edges along which the running pass wants a gradient; None for the others.

        Mirrors: Node::task_should_compute_output
        """
        if self.released:  # noticed also where no edge is wanted
            self.unpack(None)
        wanted = wanted_at.get()
        if wanted is None:
            return tuple(self.next_edges)
        return tuple(edge if edge is None or wanted(edge[0]) else None for edge in self.next_edges)

    def result_edge(self, number: int) -> Edge:
        """The edge of a saved result, for double backward."""
        slices = None if self.within is None else self.within()
        return (self, number) if slices is None else slices.part_edge()

    def __call__(self, *grads: Any, **unexpected: Any) -> Any:
        """Run this node alone: the gradients of the arguments, from those of the results.

        No hook is called, and what the node saves is kept.

        One gradient is returned as such, several as a tuple, where None stands for one that is not wanted.

        Mirrors: THPCppFunction_call in torch/csrc/autograd/python_cpp_function.cpp
        """
        if unexpected:
            raise TypeError("keyword arguments are not supported")
        if len(grads) != len(self.input_metadata):
            raise TypeError(f"expected {len(self.input_metadata)} arguments, got {len(grads)} instead")
        for i, grad in enumerate(grads):
            if not (grad is None or isinstance(grad, TensorImpl)):
                raise TypeError(f"argument {i} is not a Variable")
        results = self.apply(list(grads))
        return results[0] if len(results) == 1 else tuple(results)

    def name(self) -> str:
        """The class name: `MulBackward0`; `torch::autograd::CopyBackwards` for a node that PyTorch wrote by hand."""
        name = type(self).__name__
        return f"torch::autograd::{name}" if name in WRITTEN_BY_HAND else name

    @property
    def metadata(self) -> dict[str, Any]:
        """A place for notes on this node: anomaly mode keeps `traceback_` and `parent_` there."""
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def requires_grad(self) -> bool:
        """True: without a gradient to compute there would be no node."""
        return True

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        """What the gradient of each result must be."""
        return tuple(InputMetadata(*wanted) for wanted in self.input_metadata if wanted is not None)

    def _sequence_nr(self) -> int:
        """The number by which the engine orders nodes that are ready."""
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        """Change that number."""
        self.sequence_nr = number

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The edges as (node, input number); (None, 0) where no gradient is wanted."""
        return tuple((None, 0) if edge is None or type(edge[0]) is Nowhere else edge for edge in self.next_edges)

    def register_hook(self, hook: Callable[[Gradients, Gradients], Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node; what it returns replaces the grad_inputs."""
        return registered(self.some_hooks().after, hook)

    def register_prehook(self, hook: Callable[[Gradients], Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node; what it returns replaces them."""
        return registered(self.some_hooks().before, hook)

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


def note(node: Node) -> None:
    """Let a new node note the line that it was made for, and the streams of its thread, as far as these are needed."""
    if anomaly_mode.mode.enabled:
        anomaly_mode.remember(node)
    if runtime.side_streams:
        node.streams = runtime.streams_of_thread()[1]


class Nowhere(Node):
    """Where the gradient of a tensor goes that requires grad and has no node: a view, made in no_grad, of one that has.

    PyTorch has an edge without a function there. It counts when it is asked whether an operator has to be recorded, and
    not when its node saves what a gradient needs, nor when the gradient is computed: NoEdge is false.
    """

    next_edges = ()
    sequence_nr = LAST

    def __init__(self, wanted: Metadata) -> None:
        self.input_metadata = (wanted,)

    def apply(self, grads: Gradients) -> Gradients:
        return ()


class NoEdge(tuple[Node, int]):
    """An edge to Nowhere."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


def accelerator_of(node: Node) -> int | None:
    """The device, other than the CPU, on which a node's gradients lie; None if all are on the CPU.

    Mirrors: Node::device in node.h
    """
    for metadata in node.input_metadata:
        if metadata is not None and metadata[2].type not in ON_THE_CALLERS_THREAD:
            return metadata[2].index
    return None


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
        elif told == "Size":
            yield f"_saved_{slot.replace('_size_', '_sym_argsize_')}", attrgetter(slot)
        elif told == "Dim":
            yield f"_saved_{slot.removesuffix('ndim')}dim", attrgetter(slot)
        elif told == "Numel":
            yield f"_saved_{slot.removesuffix('numel')}sym_numel", attrgetter(slot)
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
    return tuple(_shown(node, s) for s in saved) if isinstance(saved, list) else _shown(node, saved)


def _shown(node: Node, saved: Any) -> Any:
    """A saved tensor, as it is read; one that stands for a number has the number's own precision, as in PyTorch."""
    tensor = node.unpack(None) if saved is None else saved.unpack(node, shown=True)
    if tensor is None or tensor._number is None or not isinstance(tensor._number, float | complex):
        return tensor
    return tensor.to(complex128 if isinstance(tensor._number, complex) else float64)


def _raw_variable(slot: str, node: Node) -> Any:
    saved = getattr(node, slot)
    if saved is None and node.released:
        return Freed()
    return tuple(saved) if isinstance(saved, list) else saved


class Freed:
    """What is left of a saved tensor once its node has let go of it."""

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Refused: there is no tensor to pack."""
        raise AutogradError(
            "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph "
            "are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
            "through the graph a second time or if you need to access saved variables after calling backward."
        )


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
    """The name of a node's operator in messages: `Exp` for ExpBackward0, `Prod1` for ProdBackward1."""
    return re.sub(r"Backward0?(\d*)$", r"\1", node.name())
