"""How does running a function once become a graph?

Mirrors: torch/csrc/jit/frontend/tracer.cpp (TracingState, trace, setValueTrace, warn),
    torch/csrc/autograd/TraceTypeManual.cpp (general_trace_function), torch/csrc/autograd/generated/TraceType_*.cpp
Differs: one boxed fallback serves every operator. Sizes are recorded as numbers, where PyTorch records `aten::size`;
    reading a constant's length, elements and values gives no warning. A new tensor over known memory, made without an
    operator (`x.data`), is recorded as `aten::detach`; PyTorch keeps its elements as a constant. A dict cannot be
    returned. Nothing is removed from the graph. For an autograd function, the operators in its forward are recorded;
    PyTorch records a call of it, which no archive can hold.

While a function is traced, the key Tracer is in the key set of every call, above autograd. Its kernel is the same for
all operators: make a node, remove the key, run the operator, and remember which value of the graph each result is.
The operators that an operator calls are not recorded: below the fallback the key is gone.
No control flow is recorded: `prim::If` and `prim::Loop` come only from graphs that were parsed from text.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function
from glasstorch.autograd.modes import grad_mode
from glasstorch.core import hooks
from glasstorch.core.errors import ArgumentError
from glasstorch.core.keys import FUNCTIONALITY_BIT, below
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.library import HERE, place
from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.dispatch.schema import Argument
from glasstorch.jit.ir import Graph, Node, SourceRange, Value
from glasstorch.jit.passes.normalize_ops import normalize_ops
from glasstorch.jit.types import TENSOR, ListType, OptionalType, TensorType, TupleType, from_schema
from glasstorch.operators.generated import functions

TRACER = FUNCTIONALITY_BIT["Tracer"]
BELOW_TRACER = below("Tracer")
Parameters = Mapping[int, tuple[str, Tensor]]  # the tensor's id -> its name in the module, and the tensor

# The method that reads a tensor's value, by its code -> what the tensor is converted to.
CONVERSIONS: dict[CodeType, str] = {
    Tensor.__bool__.__code__: "Python boolean",
    Tensor.__int__.__code__: "Python integer",
    Tensor.__float__.__code__: "Python float",
    Tensor.__index__.__code__: "Python index",
    Tensor.__getitem__.__code__: "Python index",
    Tensor.__setitem__.__code__: "Python index",
    Tensor.tolist.__code__: "Python list",
    Tensor.numpy.__code__: "NumPy array",
}
APPLY = Function.apply.__func__.__code__  # type: ignore[attr-defined]
SHOWING = frozenset([Tensor.__repr__.__code__, Tensor.__format__.__code__])  # no result of the program depends on them


class TracerWarning(Warning):
    """The trace may give wrong results for other inputs."""


class TracingState:
    """The graph that is being recorded, and which value of it each tensor is."""

    def __init__(self, parameters: Parameters) -> None:
        self.graph = Graph()
        self.grad_mode = grad_mode.get()
        self.used_parameters: list[str] = []  # the parameters that became inputs, in order
        self._parameters = parameters
        # By id. The tensors are kept alive, so that no id is reused.
        self._values: dict[int, tuple[Tensor, Value]] = {}

    def knows(self, tensor: Tensor) -> bool:
        """Whether the graph computes the tensor, so that it is not a constant."""
        known = self._values.get(id(tensor))
        if known is not None:
            return not known[1].is_constant
        return self.holds(tensor) or self._sees_memory_of_the_graph(tensor)

    def holds(self, tensor: Tensor) -> bool:
        """Whether the tensor is a parameter or a buffer, which is the same tensor at every run."""
        return id(tensor) in self._parameters

    def _sees_memory_of_the_graph(self, tensor: Tensor) -> bool:
        """Whether a new tensor has the elements of one that the graph computes, as `x.data` has."""
        computed = (known for known, value in self._values.values() if not value.is_constant)
        given = (parameter for _, parameter in self._parameters.values())
        return tensor._storage is not None and any(known._storage is tensor._storage for known in (*computed, *given))

    def enters(self, operator: Operator, keys: int) -> bool:
        """Whether a call with these keys is recorded as the operators that it consists of."""
        return False

    def loses_gradients(self, arguments: Sequence[Any]) -> bool:
        """Whether a call loses a gradient because its grad mode is not that in which the graph will run."""
        if grad_mode.get() is self.grad_mode:
            return False
        wanted = any(getattr(tensor, "requires_grad", False) for tensor in tensors_of(arguments))
        return wanted or _autograd_function() is not None

    def value_left(self) -> None:
        """Called when a traced tensor's value is read by Python, and so leaves the graph."""
        _warn_of_conversion()

    def set_value(self, tensor: Tensor, value: Value) -> None:
        """Record that this tensor is that value."""
        self._values[id(tensor)] = tensor, value

    def value_of(self, tensor: Tensor) -> Value:
        """The value of a tensor; one that is not known yet is a parameter, or becomes a constant."""
        known = self._values.get(id(tensor))
        if known is not None:
            return known[1]
        if self.holds(tensor):
            name, _ = self._parameters[id(tensor)]
            value = self.graph.add_input(f"self.{name}", TensorType.of(tensor))
            self.used_parameters.append(name)
        else:
            value = self.seen_again(tensor) or self._constant(tensor)
        self.set_value(tensor, value)
        return value

    def seen_again(self, tensor: Tensor) -> Value | None:
        """The value for a new tensor with known elements: `x.data`, a subclass's instance, a saved tensor."""
        storage = tensor._storage
        if storage is None:
            return None
        for known in (*(t for t, _ in reversed(self._values.values())), *(t for _, t in self._parameters.values())):
            if known._storage is storage and _geometry(known) == _geometry(tensor):
                value = self.value_of(known)
                if tensor.grad_fn is known.grad_fn and tensor.requires_grad == known.requires_grad:
                    return value
                return self.graph.insert("aten::detach", [value], TensorType.of(tensor))
        return None

    def _constant(self, tensor: Tensor) -> Value:
        if tensor.requires_grad:
            raise ArgumentError(
                f"Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or "
                f"detaching the gradient\nTensor:\n{tensor}"
            )
        return self.graph.insert_constant(tensor)

    def argument(self, declared: Argument, given: Any) -> Value:
        """The value for one argument of an operator."""
        type = from_schema(declared.type)
        if isinstance(type, OptionalType) and given is not None:
            type = type.element
        if isinstance(given, Tensor):
            value = self.value_of(given)
            if declared.type.is_write and value.is_constant:
                warn(
                    "An operator writes to a tensor that the trace keeps as a constant. Every run of the trace will "
                    "write to the same tensor again, and start from what the run before it left there"
                )
            return value
        if isinstance(type, ListType) and isinstance(given, list | tuple | range):
            return self.graph.insert_list(type.element, [self._element(element) for element in given])
        return self.graph.insert_constant(
            float(given) if declared.type.base == "float" and given is not None else given
        )

    def _element(self, given: Any) -> Value:
        return self.value_of(given) if isinstance(given, Tensor) else self.graph.insert_constant(given)

    # A function's inputs and outputs -----------------------------------------------------------------------------

    def input(self, given: Any, value: Value) -> Any:
        """Make an argument an input value of the graph; the function must be called with the result."""
        if isinstance(given, Tensor):
            if id(given) in self._values or self.holds(given):
                given = functions.view_as(given, given)  # the same tensor as another input: it needs a value of its own
            value.type = TensorType.of(given)
            self.set_value(given, value)
            return given
        if not isinstance(given, tuple | list):
            raise ArgumentError(
                f"Type '{type(given).__name__}' cannot be traced. Only Tensors and (possibly nested) Lists and Tuples "
                f"of Tensors can be traced; a number is a constant, which the function may hold itself"
            )
        kind = "prim::TupleUnpack" if isinstance(given, tuple) else "prim::ListUnpack"
        node = self.graph.insert_node(self.graph.create(kind, [value], len(given)))
        elements = [self.input(element, output) for element, output in zip(given, node.outputs, strict=True)]
        value.type = TupleType(tuple(v.type for v in node.outputs)) if isinstance(given, tuple) else ListType(TENSOR)
        return tuple(elements) if isinstance(given, tuple) else elements

    def output(self, result: Any) -> Value:
        """The value that a function returned."""
        if isinstance(result, Tensor):
            return self.value_of(result)
        if isinstance(result, tuple) and result:
            values = [self.output(element) for element in result]
            return self.graph.insert("prim::TupleConstruct", values, TupleType(tuple(v.type for v in values)))
        if isinstance(result, list) and result and all(isinstance(element, Tensor) for element in result):
            warn(
                "Encountering a list at the output of the tracer might cause the trace to be incorrect, this is only "
                "valid if the container structure does not change based on the module's inputs. Consider using a "
                "constant container instead (e.g. for `list`, use a `tuple` instead)."
            )
            return self.graph.insert_list(TENSOR, [self.value_of(element) for element in result])
        raise ArgumentError(
            f"Only tensors, lists of tensors and tuples of them can be output from traced functions, got {result!r} "
            f"of type {type(result).__name__}"
        )


def _geometry(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.dtype, tensor._shape, tensor.strides(), tensor._offset


tracing_state: ContextVar[TracingState | None] = ContextVar("tracing_state", default=None)


def is_tracing() -> bool:
    """Whether a function is being traced."""
    return tracing_state.get() is not None


_lock = threading.Lock()
_traces = 0  # how many are being recorded, in all threads


@contextmanager
def recording(state: TracingState) -> Iterator[None]:
    """In the `with` block, every operator of this context is recorded."""
    included, allowed = active_keys.get()
    keys = active_keys.set((included | TRACER, allowed | TRACER))
    token = tracing_state.set(state)
    _count_traces(+1)
    try:
        yield
    finally:
        _count_traces(-1)
        tracing_state.reset(token)
        active_keys.reset(keys)


def _count_traces(step: int) -> None:
    """Register the hooks for reads that bypass the operators, as long as there is a trace in any thread."""
    global _traces
    with _lock:
        _traces += step
        hooks.set_trace_hooks(_TraceHooks() if _traces else None)


class _TraceHooks:
    """Warns of events that no graph can hold, except inside kernels and in threads that do not trace."""

    def records_here(self) -> bool:
        return is_tracing()

    def value_read(self, tensor: Any) -> None:
        state = _recorded()
        if state is not None and state.knows(tensor):
            state.value_left()

    def length_read(self, tensor: Any) -> None:
        state = _recorded()
        if state is not None and state.knows(tensor):
            _warn_the_caller(
                "Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would be "
                "tensor.shape[0]. Passing a tensor of different shape might lead to errors or silently give incorrect "
                "results."
            )

    def iterated(self, tensor: Any) -> None:
        state = _recorded()
        if state is not None and state.knows(tensor):
            _warn_the_caller(
                "Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape "
                "won't change the number of iterations executed (and might lead to errors or silently give incorrect "
                "results)."
            )

    def made_from_data(self, function: str) -> None:
        if _recorded() is not None:
            _warn_the_caller(
                f"{function} results are registered as constants in the trace. You can safely ignore this warning if "
                "you use this function to create tensors out of constant variables that would be the same every time "
                "you call this function. In any other case, this might cause the trace to be incorrect."
            )

    def gradient_hooked(self, tensor: Any) -> None:
        state = _recorded()
        if state is not None and state.knows(tensor) and not state.holds(tensor):
            warn(
                "A gradient hook was registered inside the traced function, and a graph does not hold it: no run of "
                "the graph will call the hook"
            )


def _recorded() -> TracingState | None:
    """The trace that the running code is recorded in; None inside a kernel."""
    return tracing_state.get() if active_keys.get()[0] & TRACER else None


def trace_graph(
    function: Callable[..., Any], inputs: Sequence[Any], names: Sequence[str], parameters: Parameters
) -> TracingState:
    """Run the function once on the inputs and record its operators in the graph of the returned state.

    The graph's inputs are those of the function, followed by the parameters that it used.
    """
    if is_tracing():
        raise RuntimeError("Tracing can't be nested")
    state = TracingState(parameters)
    values = [state.graph.add_input(name) for name in names]
    given = [state.input(example, value) for example, value in zip(inputs, values, strict=True)]
    with recording(state):
        result = function(*given)
        if result is None:
            raise ArgumentError(
                "The traced function didn't return any values! Side-effects are not captured in traces, so it would be "
                "a no-op."
            )
        state.graph.register_output(state.output(result))
    normalize_ops(state.graph)
    return state


# The kernel of the key Tracer ---------------------------------------------------------------------------------------


def trace_operator(keys: int, operator: Operator, *positional: Any, **named: Any) -> Any:
    """Record a call of any operator, and run it."""
    state = tracing_state.get()
    arguments = operator.bind(positional, named)
    below_tracer = keys & BELOW_TRACER
    if state is None or state.enters(operator, below_tracer):
        return operator.redispatch(below_tracer, *arguments)
    values = _values_of(state, operator, arguments)
    included, allowed = active_keys.get()
    token = active_keys.set((included & ~TRACER, allowed))
    try:
        result = operator.redispatch(below_tracer, *arguments)
    finally:
        active_keys.reset(token)
    if values is not None:
        _write_node(state, operator, values, result)
    return result


def _values_of(state: TracingState, operator: Operator, arguments: Sequence[Any]) -> list[Value] | None:
    """The values of a call's arguments; None if its results are no tensors, and so leave the graph."""
    schema, values = operator.schema, None
    if all(returned.type.is_tensor_like for returned in schema.returns):
        values = [state.argument(*pair) for pair in zip(schema.arguments, arguments, strict=True)]
    elif any(map(state.knows, tensors_of(arguments))):  # type: ignore[arg-type]
        state.value_left()
    if state.loses_gradients(arguments):
        _warn_of_lost_gradient()
    return values


def _write_node(state: TracingState, operator: Operator, values: list[Value], result: Any) -> None:
    """Write the node of a call, and note which values its results are now; a list of tensors is taken apart."""
    node = state.graph.create(operator.name.partition(".")[0], values, 0)
    node.source = _source()
    _check_overload(node, operator)
    state.graph.insert_node(node)
    for returned in result if len(operator.schema.returns) != 1 else (result,):
        if isinstance(returned, Tensor):
            state.set_value(returned, node.add_output(TensorType.of(returned)))
        else:
            elements = node.add_output(ListType(TENSOR))
            unpack = state.graph.create("prim::ListUnpack", [elements], [TensorType.of(t) for t in returned])
            state.graph.insert_node(unpack)
            for tensor, value in zip(returned, unpack.outputs, strict=True):
                state.set_value(tensor, value)


def _check_overload(node: Node, operator: Operator) -> None:
    """Refuse a call that would resolve to another overload in the graph, which does not name overloads."""
    read_as = node.maybe_operator()
    if read_as is not operator:
        raise ArgumentError(
            f"cannot trace a call of {operator.name}: a graph names operators without their overloads, and with these "
            f"arguments {node.kind} is {'no operator' if read_as is None else read_as.name}"
        )


# Source locations --------------------------------------------------------------------------------------------------


def _callers() -> Iterator[tuple[int, FrameType]]:
    """The frames of the call stack with their depth from here, up to the first one outside the library."""
    frame: FrameType | None = sys._getframe(1)
    distance = 1
    while frame is not None:
        yield distance, frame
        if not frame.f_code.co_filename.startswith(HERE):
            return
        frame, distance = frame.f_back, distance + 1


def _source() -> SourceRange:
    """The line of the user's program that is running."""
    *_, (_, frame) = _callers()
    filename, _, line = place(frame.f_code.co_filename, frame.f_lineno).rpartition(":")
    return SourceRange(filename, int(line), 0)


def warn(message: str) -> None:
    """Issue a TracerWarning at the line of the user's program that is running."""
    *_, (distance, _) = _callers()
    warnings.warn(message, TracerWarning, stacklevel=distance)


def _warn_the_caller(message: str) -> None:
    """Issue a TracerWarning at the caller of the function that called the hook; none if that is in the library."""
    if not sys._getframe(3).f_code.co_filename.startswith(HERE):
        warnings.warn(message, TracerWarning, stacklevel=4)


def _autograd_function() -> str | None:
    """The name of the autograd function whose forward is running."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is APPLY:
            return str(frame.f_locals["cls"].__name__)
        frame = frame.f_back
    return None


def _warn_of_lost_gradient() -> None:
    """Warn that the graph's gradient will differ from the function's."""
    function = _autograd_function()
    if function is not None:
        warn(
            f"The autograd function {function} ran inside the traced function, and a graph does not hold its backward: "
            f"run as a graph, its gradient is that of the operators in its forward"
        )
    else:
        warn(
            "The grad mode was changed inside the traced function, and a graph does not hold it: run as a graph, this "
            "operator records a gradient where the rest of the graph does. Consider detach() instead of no_grad"
        )


def _warn_of_conversion() -> None:
    """Warn that a traced tensor's value left the graph, and say what it was converted to."""
    codes = [frame.f_code for _, frame in _callers()]
    if not SHOWING.isdisjoint(codes):
        return
    into = next((CONVERSIONS[code] for code in codes if code in CONVERSIONS), "Python number")
    warn(
        f"Converting a tensor to a {into} might cause the trace to be incorrect. We can't record the data flow of "
        f"Python values, so this value will be treated as a constant in the future. This means that the trace might "
        f"not generalize to other inputs!"
    )
