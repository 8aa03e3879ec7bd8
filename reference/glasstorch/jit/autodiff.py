"""How is the gradient of a graph derived?

Mirrors: torch/csrc/jit/runtime/autodiff.h (Gradient), autodiff.cpp (differentiate),
    torch/_functorch/_aot_autograd/graph_capture.py (aot_dispatch_autograd_graph), torch/_functorch/partitioners.py
    (default_partition, _extract_graph_with_inputs_outputs)
Differs: TorchScript has separate formulas for graphs (symbolic_script.cpp); here autograd's own formulas are traced, as
    AOTAutograd does. Each set of outputs that receive gradients gets its own backward graph, where TorchScript tests
    for undefined gradients in the backward graph and AOTAutograd makes zeros.

# Note [Joint graph]
The graph is run under the tracer on meta tensors, with gradients recorded, and then the gradients are computed under
the same tracer. One joint graph holds both: the nodes of the forward pass, then those of the backward pass, which use
values of the forward pass wherever a formula unpacked a saved tensor. Composite operators are traced as their parts, so
that autograd saves only tensors that the tracer has seen; not those tagged `by_strides`, which save no tensors, and
whose parts depend on the unknown strides of incoming gradients. Nothing is computed, as meta tensors have sizes and no
data: an operator or a formula that reads data raises an error, and the gradient is not derived.

Partitioning the joint graph gives two graphs: forward, which also returns what backward needs, and backward. Sizes,
strides and dtypes that a formula read are constants in them, so they are valid for inputs of one Signature only.

# Note [Saved or computed again]
Views and lists are not saved: the backward graph recomputes them from their sources. Nor, if recomputation is asked
for, are results of operators tagged `cheap` that take only a few steps from values that are saved anyway: in a fused
loop that costs less than writing and reading memory. An input that backward does not need is never saved for
recomputation, as changing it in place would then become an error. For a list of new tensors made by an operator, the
elements are saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor, empty, empty_strided
from glasstorch.autograd.graph import grad
from glasstorch.autograd.modes import enable_grad
from glasstorch.core.device import META, device, device_from
from glasstorch.core.dtype import dtype, get_default_dtype
from glasstorch.core.errors import Rule
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    ALL_BACKENDS,
    AUTOCAST,
    AUTOGRAD_AND_NESTED,
    FUNCTIONALITY_BIT,
    DispatchKeySet,
)
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.resolve import MATH_KERNEL, resolve
from glasstorch.dispatch.tags import Tag
from glasstorch.jit.alias_analysis import CONTAINERS, memory_facts, written_arguments
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph, Node, Value
from glasstorch.jit.side_effects import has_side_effects
from glasstorch.jit.tracer import TracingState, recording
from glasstorch.jit.types import DEVICE, TENSOR

PLAIN_TENSOR: Final = (FUNCTIONALITY_BIT["Dense"] | ADINPLACEORVIEW | AUTOGRAD_AND_NESTED | AUTOCAST) | ALL_BACKENDS
STEPS_AGAIN: Final = 3  # at most so many operators are recomputed for one value that is not saved
Defined = tuple[bool, ...]  # for each output of a graph whether a gradient arrives for it


class NotDerivableError(Rule, RuntimeError):
    """The gradient of a graph cannot be derived as a graph; the message says why."""


class Kind(NamedTuple):
    """The facts about an input that formulas may read; strides are None if it is row-major."""

    dtype: dtype
    shape: Shape
    strides: Shape | None
    requires_grad: bool


class Signature(NamedTuple):
    """What a derived graph is valid for: all facts besides the graph that a formula may have read."""

    device: device
    default_dtype: dtype
    inputs: tuple[Kind, ...]


def signature_of(inputs: Sequence[Tensor], wanted: Sequence[bool]) -> Signature:
    """The signature of a call; `wanted` says for which inputs gradients are computed.

    NotDerivableError for inputs on several devices, and for those that are not plain tensors: of numbers, made in
    inference mode, of a class that sees every operator.
    """
    on = inputs[0].device
    for tensor in inputs:
        if tensor.device is not on:
            raise NotDerivableError(f"its inputs are on {on} and {tensor.device}")
        if tensor._number is not None:
            raise NotDerivableError("one of its inputs is a Python number in a tensor")
        if tensor.key_set & ~PLAIN_TENSOR or not tensor.key_set & ADINPLACEORVIEW:
            raise NotDerivableError(f"one of its inputs has the keys {DispatchKeySet(tensor.key_set)}")
    kinds = [Kind(t.dtype, t._shape, t._strides, need) for t, need in zip(inputs, wanted, strict=True)]
    return Signature(on, get_default_dtype(), tuple(kinds))


@dataclass(frozen=True, slots=True)
class Joint:
    """A graph and its gradient, traced as one graph: Note [Joint graph]."""

    graph: Graph
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    vjps: tuple[Value | None, ...]  # for each output its incoming gradient, or None
    grads: tuple[Value | None, ...]  # for each input its resulting gradient, or None
    forward: tuple[Node, ...]
    differentiable: Defined  # for each output whether it can have a gradient


class _JointState(TracingState):
    """Records the forward pass, followed by the backward pass."""

    def __init__(self) -> None:
        super().__init__({})
        self._first: dict[tuple[Any, ...], Value] = {}  # by storage and geometry, the first value that had them

    def enters(self, operator: Operator, keys: int) -> bool:
        return Tag.by_strides not in operator.tags and resolve(operator, keys).choice.rule == MATH_KERNEL

    def value_left(self) -> None:
        raise NotDerivableError("an operator or a formula reads data")

    def set_value(self, tensor: Tensor, value: Value) -> None:
        super().set_value(tensor, value)
        if tensor._storage is not None:
            self._first.setdefault(_elements(tensor), value)

    def seen_again(self, tensor: Tensor) -> Value | None:
        """The value of a saved tensor: a result that a node saved has no history, and is found by its elements."""
        return self._first.get(_elements(tensor))

    def loses_gradients(self, arguments: Sequence[Any]) -> bool:
        return False  # the backward pass is not recorded by autograd, and is not meant to be


def trace_joint(graph: Graph, signature: Signature, defined: Defined | None = None) -> Joint:
    """Trace a graph of operators on tensors, and its gradient for those outputs whose gradients are defined.

    `defined` is every output that can have a gradient, if it is None. NotDerivableError where an operator or a formula
    needs data, writes to memory, or where outputs share memory with inputs or each other.
    """
    token = active_keys.set(BY_DEFAULT)
    try:
        with enable_grad():
            return _trace_joint(graph, signature, defined)
    except NotDerivableError:
        raise
    except Exception as error:  # any error of an operator on tensors without data
        raise NotDerivableError(f"{type(error).__name__}: {error}") from error
    finally:
        active_keys.reset(token)


def _trace_joint(graph: Graph, signature: Signature, defined: Defined | None) -> Joint:
    state = _JointState()
    examples = [_example(kind) for kind in signature.inputs]
    inputs = tuple(state.graph.add_input(value.debug_name if value.has_debug_name else "") for value in graph.inputs)
    for example, value in zip(examples, inputs, strict=True):
        state.set_value(example, value)
    code = Code(_on_device(graph.copy(), signature.device, META))
    with recording(state):
        results = code(*examples)
        _refuse_shared_memory(examples, results)
        outputs = tuple(map(state.value_of, results))
        forward = state.graph.nodes
        differentiable = tuple(bool(result.requires_grad) for result in results)
        defined = differentiable if defined is None else defined
        arriving = [
            _example(Kind(result.dtype, result._shape, result._strides, False)) if arrives else None
            for result, arrives in zip(results, defined, strict=True)
        ]
        vjps: list[Value | None] = []
        for gradient in arriving:
            vjps.append(None if gradient is None else state.graph.add_input("grad"))
            if gradient is not None:
                state.set_value(gradient, state.graph.inputs[-1])
        wanted = [example for example in examples if example.requires_grad]
        found = iter(
            grad(
                [result for result, arrives in zip(results, defined, strict=True) if arrives],
                wanted,
                [gradient for gradient in arriving if gradient is not None],
                allow_unused=True,
            )
        )
        gradients = [next(found) if example.requires_grad else None for example in examples]
        grads = tuple(None if gradient is None else state.value_of(gradient) for gradient in gradients)
    for node in state.graph.nodes:
        if has_side_effects(node) or written_arguments(node):
            raise NotDerivableError(f"{node.kind} writes to memory or draws random numbers")
    _on_device(state.graph, META, signature.device)
    return Joint(state.graph, inputs, outputs, tuple(vjps), grads, forward, differentiable)


def _example(kind: Kind) -> Tensor:
    if kind.strides is None:
        example = empty(kind.shape, kind.dtype, META)
    else:
        example = empty_strided(kind.shape, kind.strides, kind.dtype, META)
    return example.requires_grad_() if kind.requires_grad else example


def _elements(tensor: Tensor) -> tuple[Any, ...]:
    """A tensor's storage and geometry as a key; the state keeps its tensors, and so their storages, alive."""
    return id(tensor._storage), tensor.dtype, tensor._shape, tensor.strides(), tensor._offset


def _on_device(graph: Graph, before: device, after: device) -> Graph:
    """Replace one device by another in the constants of a graph. Returns the graph."""
    for node in graph.find_all_nodes("prim::Constant"):
        if node.output.type == DEVICE and device_from(node.attributes["value"]) is before:
            node.attributes["value"] = after
    return graph


def _refuse_shared_memory(inputs: Sequence[Tensor], results: Sequence[Any]) -> None:
    """Refuse results that are views or inputs: they must stay so, but a graph's node returns new tensors."""
    seen = {id(tensor._storage) for tensor in inputs}
    for result in results:
        if not isinstance(result, Tensor):
            raise NotDerivableError(f"it returns {type(result).__name__}, not a tensor")
        if id(result._storage) in seen or result._storage is None:
            raise NotDerivableError("an output shares memory with an input or another output")
        seen.add(id(result._storage))


# Partitioning -------------------------------------------------------------------------------------------------------


class Backward(NamedTuple):
    """The backward graph for one set of outputs that receive gradients."""

    graph: Graph
    inputs: tuple[int, ...]  # its inputs after the gradients, as indices of the values that it can take
    # For each input of the forward graph, the index of the output that is its gradient; past the outputs, of an input.
    places: tuple[int | None, ...]


class Gradient:
    """The result of `differentiate`. The graphs are as traced, without optimisation.

    `f` is the forward graph: it returns the `f_real_outputs` outputs, and then what the backward graph needs and is no
    output. `df(defined)` is the backward graph: it takes the gradients of those outputs, then of what was captured: the
    inputs `df_input_captured_inputs` and the outputs of f `df_input_captured_outputs`. `whole(defined)` computes the
    same of the inputs, and of those outputs that were captured: all that others know the gradients of.
    """

    def __init__(self, graph: Graph, signature: Signature, again: bool = False) -> None:
        self._graph, self._signature = graph, signature
        joint = trace_joint(graph, signature)
        self.differentiable = joint.differentiable
        self._joints = {joint.differentiable: joint}
        self.f_real_outputs = len(joint.outputs)
        saved = _without_cheap(joint, _saved(joint)) if again else _saved(joint)
        self.df_input_captured_inputs = [i for i, value in enumerate(joint.inputs) if value in saved]
        returned = list(joint.outputs)
        returned += [value for value in saved if value not in joint.inputs and value not in joint.outputs]
        self.df_input_captured_outputs = [i for i, value in enumerate(returned) if value in saved]
        self.f = extract(joint.graph, joint.inputs, returned)
        # Where each captured value is made, to find it in the joint graph for another set of gradients.
        self._captured = [joint.inputs[i] for i in self.df_input_captured_inputs]
        self._captured += [returned[i] for i in self.df_input_captured_outputs]
        self._places = [_place(joint, value) for value in self._captured]
        self.taken_by_whole = self.whole(joint.differentiable).inputs

    def df(self, defined: Defined) -> Backward:
        """The backward graph for the outputs that receive gradients."""
        joint = self._joint(defined)
        return self._cut(joint, [_at(joint, place) for place in self._places], range(len(self._places)))

    def whole(self, defined: Defined) -> Backward:
        """As `df`, but its inputs are indices of the inputs followed by the outputs."""
        joint = self._joint(defined)
        outputs = [i for i in self.df_input_captured_outputs if i < self.f_real_outputs]
        available = [*joint.inputs, *(joint.outputs[i] for i in outputs)]
        numbers = [*range(len(joint.inputs)), *(len(joint.inputs) + i for i in outputs)]
        return self._cut(joint, available, numbers)

    def _cut(self, joint: Joint, available: Sequence[Value], numbers: Iterable[int]) -> Backward:
        results = [None if value is None else _transposed_once_less(value) for value in joint.grads]
        found = [value for value in results if value is not None]
        needed = _needed(found, frozenset(available).__contains__)
        taken = [(value, i) for value, i in zip(available, numbers, strict=True) if value in needed]
        given = [value for value in joint.vjps if value is not None] + [value for value, _ in taken]
        returned = [value for value in dict.fromkeys(found) if value not in given]
        graph = extract(joint.graph, given, returned)
        known = [*returned, *given]
        places = tuple(None if value is None else known.index(value) for value in results)
        return Backward(graph, tuple(i for _, i in taken), places)

    def _joint(self, defined: Defined) -> Joint:
        joint = self._joints.get(defined)
        if joint is None:
            joint = self._joints[defined] = trace_joint(self._graph, self._signature, defined)
        return joint


def _transposed_once_less(value: Value) -> Value:
    """The value itself, or x for x.t().t(): it does not matter whether a gradient is a view."""
    while value.node.kind == "aten::t" and value.node.inputs[0].node.kind == "aten::t":
        value = value.node.inputs[0].node.inputs[0]
    return value


def differentiate(graph: Graph, signature: Signature, again: bool = False) -> Gradient:
    """Derive the gradient of a graph for inputs of one signature; NotDerivableError if that is not possible.

    `again`: what is cheap is computed again in the backward pass. See Note [Saved or computed again].
    """
    return Gradient(graph, signature, again)


def _saved(joint: Joint) -> list[Value]:
    """The inputs and the values of the forward pass that the backward pass reads, in the order of their nodes."""
    forward, inputs = frozenset(joint.forward), frozenset(joint.inputs)

    def is_saved(value: Value) -> bool:
        return value in inputs or (value.node in forward and not _is_free(value.node))

    needed = _needed([value for value in joint.grads if value is not None], is_saved)
    made = [output for node in joint.forward for output in node.outputs]
    return [value for value in (*joint.inputs, *made) if value in needed and is_saved(value)]


def _without_cheap(joint: Joint, saved: Sequence[Value]) -> list[Value]:
    """The saved values that are inputs or outputs, or cannot be recomputed cheaply from other saved values."""
    given = {value for value in saved if value in joint.inputs or value in joint.outputs}
    for value in saved:
        if _steps_left(value, given, STEPS_AGAIN) < 0:
            given.add(value)
    return [value for value in saved if value in given]


def _steps_left(value: Value, given: set[Value], steps: int) -> int:
    """How many of `steps` are left after recomputing a value from the given ones; -1 if they do not suffice."""
    node = value.node
    if value in given:
        return steps
    if node.kind == "prim::Param":
        return -1
    if not _is_free(node):
        operator = node.maybe_operator()  # an element of a list has none, and costs as much as the list
        if operator is None or Tag.cheap not in operator.tags:
            return -1
        steps -= 1
    for one in node.inputs:
        if steps < 0:
            break
        steps = _steps_left(one, given, steps)
    return steps


def _is_free(node: Node) -> bool:
    """Whether a node's result need not be saved, as it has no memory of its own."""
    if node.kind == "prim::ListUnpack":  # of a list of new tensors, the elements are saved
        return _is_free(node.inputs[0].node)
    if node.kind == "prim::Constant" or node.kind in CONTAINERS:
        return True
    return all(memory_facts(node.schema()).sources)


def _needed(results: Iterable[Value], is_given: Callable[[Value], bool]) -> set[Value]:
    """The results and all values that they depend on, back to the given ones."""
    needed: set[Value] = set()
    stack = list(results)
    while stack:
        value = stack.pop()
        if value not in needed:
            needed.add(value)
            if not is_given(value):
                stack += value.node.inputs
    return needed


def extract(graph: Graph, inputs: Sequence[Value], outputs: Sequence[Value]) -> Graph:
    """A new graph with only the nodes that compute `outputs` from `inputs`, out of a graph without blocks."""
    cut = Graph()
    given = frozenset(inputs)
    needed = _needed(outputs, given.__contains__)
    copies: dict[Value, Value] = {}
    for value in inputs:
        copies[value] = cut.add_input(value.debug_name if value.has_debug_name else "", TENSOR)
    for node in graph.nodes:
        if any(output in needed and output not in given for output in node.outputs):
            clone = cut.append_node(cut.create_clone(node, copies.__getitem__))
            for output, copy in zip(node.outputs, clone.outputs, strict=True):
                copies.setdefault(output, copy)
    for value in outputs:
        cut.register_output(copies[value])
    return cut


def _place(joint: Joint, value: Value) -> tuple[int, int]:
    """A value's place: -1 and the index of an input, or the indices of the node that makes it and of its output."""
    if value in joint.inputs:
        return -1, joint.inputs.index(value)
    return joint.forward.index(value.node), value.offset


def _at(joint: Joint, place: tuple[int, int]) -> Value:
    node, offset = place
    return joint.inputs[offset] if node < 0 else joint.forward[node].outputs[offset]
