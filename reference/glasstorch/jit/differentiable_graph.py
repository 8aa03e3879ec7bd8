"""How does a graph run so that autograd records it as a single node?

Mirrors: torch/csrc/jit/runtime/graph_executor.cpp (DifferentiableGraphOp, DifferentiableGraphBackward)
Differs: the gradient is derived at the first call with inputs of a signature (autodiff.py), where PyTorch derives it
    when the graph is compiled. The gradient of a gradient is computed from the inputs: see Note [Twice].

A prim::DifferentiableGraph holds a subgraph, which is optimised and run if no gradients are recorded. If an input
requires grad, the derived forward graph runs below autograd, and one autograd node represents all of it: its backward
runs the derived backward graph.

# Note [Twice]
With `create_graph` the resulting gradients must have a history, and some values that forward captured have none: the
intermediate ones are not the output of any recorded node. So the backward pass runs as a function of the incoming
gradients, the inputs and the captured outputs, and recomputes whatever else it needs of forward. It runs like a
prim::DifferentiableGraph: its own gradient is derived on demand, and so on for any order. For that the node saves the
inputs that the gradients depend on, even if the backward pass itself needs only values computed from them: for
`(x + 1).exp() * 2` it saves x and the result of exp, where the operators' own nodes save only that result. A leaf's
memory is alive anyway; that of another input would have been freed by then in eager mode. Changing one of these in
place is an error only with `create_graph`.

# Note [Kinds of inputs]
A gradient is derived for inputs of one signature, which takes as long as about a hundred runs. So derived graphs are
cached, for SIGNATURE_LIMIT signatures. A further signature replaces the least recently used one, but only if that was
last used STALE_CALLS calls ago: a program that cycles through more signatures than are cached would otherwise derive at
every call. Until then, inputs of a new signature run operator by operator.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.history import gradient_edge, set_histories
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Edge, Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.dtype import get_default_dtype
from glasstorch.core.keys import ALL_BACKENDS, AUTOGRAD_AND_NESTED
from glasstorch.dispatch.active_keys import ALLOWED_BY_DEFAULT, BY_DEFAULT, INCLUDED_BY_DEFAULT, active_keys
from glasstorch.jit.autodiff import Defined, Gradient, NotDerivableError, differentiate, signature_of
from glasstorch.jit.interpreter import Code, register_operation
from glasstorch.jit.ir import Graph
from glasstorch.jit.ir import Node as GraphNode
from glasstorch.jit.log import log_underived
from glasstorch.jit.passes.pipeline import run_nondiff_optimization
from glasstorch.jit.printer import SUBGRAPH
from glasstorch.jit.settings import fuser_name

SIGNATURE_LIMIT: Final = 32  # Note [Kinds of inputs]
STALE_CALLS: Final = 1000

# Views are recorded and versions are counted, as returned tensors may share memory with saved ones.
BELOW_AUTOGRAD: Final = INCLUDED_BY_DEFAULT, ALLOWED_BY_DEFAULT & ~(AUTOGRAD_AND_NESTED & ~ALL_BACKENDS)

_deriving = threading.RLock()


class DifferentiableGraph:
    """Runs a graph: called with its inputs, returns its outputs as a tuple, with one autograd node for all of them."""

    def __init__(self, graph: Graph, fuser: str, tell: Callable[[str], None] = lambda why: None) -> None:
        self.graph = graph
        self._fuser = fuser
        self._tell = tell  # called with the reason if the operators run one by one
        self._told: set[str] = set()
        self._as_it_is = Code(graph)
        self._without_gradient: Code | None = None
        self._kept: dict[tuple[Any, ...], Kept] = {}
        self._calls = 0

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:  # hot path: benchmarks/jit.py
        if active_keys.get() != BY_DEFAULT:  # a mode is active, which must see every operator
            return self._as_it_is(*inputs)
        edges = [gradient_edge(tensor) for tensor in inputs] if grad_mode.get() else []
        if not any(edges):
            return self._run_without_gradient(inputs)
        key: list[Any] = [get_default_dtype()]  # the contents of a Signature, flattened
        for tensor, edge in zip(inputs, edges, strict=True):
            key += tensor.dtype, tensor._shape, tensor._strides, tensor.device, tensor.key_set, edge is None
            if tensor._number is not None:
                return self._as_it_is(*inputs)
        found = tuple(key)
        self._calls += 1
        kept = self._kept.get(found) or self._derive(found, inputs, edges)
        if kept is None:
            return self._as_it_is(*inputs)
        kept.used = self._calls
        return self._as_it_is(*inputs) if kept.derived is None else kept.derived(inputs, edges)

    def derived(self) -> list[Derived | None]:
        """What was derived, for each cached signature; None where the gradient could not be derived."""
        return [kept.derived for kept in self._kept.values()]

    def _derive(self, key: tuple[Any, ...], inputs: Sequence[Tensor], edges: Sequence[Edge | None]) -> Kept | None:
        """Derive and cache the graphs for the inputs' signature; None if the cache has no room for another."""
        with _deriving:
            if key not in self._kept and self._has_room():
                try:
                    signature = signature_of(inputs, [edge is not None for edge in edges])
                    gradient = differentiate(self.graph, signature, again=self._fuser != "none")
                    self._kept[key] = Kept(Derived(gradient, self._fuser), self._calls)
                except NotDerivableError as error:
                    self._kept[key] = Kept(None, self._calls)
                    self._tell_once(str(error))
            return self._kept.get(key)

    def _has_room(self) -> bool:
        """Whether one more signature can be cached, if need be in place of a stale one: Note [Kinds of inputs]."""
        if len(self._kept) < SIGNATURE_LIMIT:
            return True
        oldest = min(self._kept, key=lambda key: self._kept[key].used)
        if self._calls - self._kept[oldest].used < STALE_CALLS:
            self._tell_once(f"it was derived for {SIGNATURE_LIMIT} kinds of inputs already, and these are of another")
            return False
        del self._kept[oldest]
        return True

    def _tell_once(self, why: str) -> None:
        if why not in self._told:
            self._told.add(why)
            self._tell(why)

    def _run_without_gradient(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        if self._without_gradient is None:
            self._without_gradient = compiled(self.graph, self._fuser)
        return self._without_gradient(*inputs)


@dataclass(slots=True)
class Kept:
    """A cache entry: what was derived for a signature, or None, and the number of the last call that used it."""

    derived: Derived | None
    used: int


class DerivedBackward(NamedTuple):
    """A runnable backward graph; `inputs` are indices into what the node saves, `places` are as in autodiff.Backward.

    With `create_graph` it is a DifferentiableGraph: Note [Twice].
    """

    run: Code | DifferentiableGraph
    inputs: tuple[int, ...]
    places: tuple[int | None, ...]


class Derived:
    """The derived graphs for inputs of one signature, optimised and compiled before their first run."""

    def __init__(self, gradient: Gradient, fuser: str) -> None:
        self.gradient = gradient
        self._fuser = fuser
        # What a node saves, and what its backward graphs take: indices into the inputs followed by the results of f.
        count = len(gradient.f.inputs)
        captured = [*gradient.df_input_captured_inputs, *(count + i for i in gradient.df_input_captured_outputs)]
        self._captured = tuple(captured)
        self._held = sorted({*captured, *gradient.taken_by_whole})
        self._forward = compiled(gradient.f, fuser)
        self._backward: dict[Defined, DerivedBackward] = {}
        self._twice: dict[Defined, DerivedBackward] = {}

    def __call__(self, inputs: Sequence[Tensor], edges: Sequence[Edge | None]) -> tuple[Tensor, ...]:
        """Run forward, and set the `grad_fn` of all its outputs to one node."""
        gradient = self.gradient
        results = _below_autograd(self._forward, inputs)
        outputs = results[: gradient.f_real_outputs]
        for output in outputs:
            output._autograd_meta = None  # its base is not visible to the caller, so it need not be a view
        node = DifferentiableGraphBackward(edges, self)
        set_histories(
            [result if may else None for result, may in zip(outputs, gradient.differentiable, strict=True)], node
        )
        count = len(inputs)
        for i in self._held:
            if i < count:
                node.saved[i] = SavedVariable(inputs[i])
            elif i < count + len(outputs) and gradient.differentiable[i - count]:
                node.saved[i] = SavedVariable(results[i - count], node, i - count)
            else:
                node.saved[i] = SavedVariable(results[i - count])
        return outputs

    def backward(self, defined: Defined) -> DerivedBackward:
        """The backward graph for the outputs that receive gradients."""
        found = self._backward.get(defined)
        if found is None:
            with _deriving:
                graph, inputs, places = self.gradient.df(defined)
                taken = tuple(self._captured[i] for i in inputs)
                found = self._backward[defined] = DerivedBackward(compiled(graph, self._fuser), taken, places)
        return found

    def twice(self, defined: Defined) -> DerivedBackward:
        """As `backward`, but differentiable again."""
        found = self._twice.get(defined)
        if found is None:
            with _deriving:
                graph, inputs, places = self.gradient.whole(defined)
                run = DifferentiableGraph(graph, self._fuser)
                found = self._twice[defined] = DerivedBackward(run, inputs, places)
        return found


class DifferentiableGraphBackward(Node):
    """The autograd node of a whole graph."""

    def __init__(self, edges: Sequence[Edge | None], derived: Derived) -> None:
        super().__init__(edges)
        self.derived = derived
        self.saved: dict[int, SavedVariable | None] = {}  # by indices into the inputs followed by the results of f

    def apply(self, grads: Gradients) -> Gradients:
        defined = tuple(gradient is not None for gradient in grads)
        if True not in defined:
            return [None] * len(self.next_edges)
        again = grad_mode.get()
        backward = self.derived.twice(defined) if again else self.derived.backward(defined)
        given = [gradient for gradient in grads if gradient is not None]
        given += [self.unpack(self.saved[i]) for i in backward.inputs]
        found = backward.run(*given) if again else _below_autograd(backward.run, given)
        known = (*found, *given)
        return [None if place is None else known[place] for place in backward.places]

    def release_variables(self) -> None:
        self.saved = dict.fromkeys(self.saved)
        self.released = True


def _below_autograd(code: Callable[..., tuple[Any, ...]], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Run a graph below autograd: nothing is recorded, and no operator checks whether it should be."""
    keys, mode = active_keys.set(BELOW_AUTOGRAD), grad_mode.set(False)
    try:
        return code(*inputs)
    finally:
        grad_mode.reset(mode)
        active_keys.reset(keys)


def compiled(graph: Graph, fuser: str) -> Code:
    """Optimise a copy of a graph that needs no gradient, and compile it for a fuser."""
    token = fuser_name.set(fuser)
    try:
        copy = graph.copy()
        run_nondiff_optimization(copy)
        return Code(copy)
    finally:
        fuser_name.reset(token)


def _operation(node: GraphNode) -> DifferentiableGraph:
    return DifferentiableGraph(node.attributes[SUBGRAPH], fuser_name.get(), lambda why: log_underived(node, why))


register_operation("prim::DifferentiableGraph", _operation)
