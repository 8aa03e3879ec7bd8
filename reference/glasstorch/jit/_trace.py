"""How is a function or a module traced, and what is the result?

Mirrors: torch/jit/_trace.py (trace, TopLevelTracedModule), torch/csrc/jit/api/function_impl.h, torch/jit/__init__.py
Differs: the graph of a module takes its parameters as further inputs, as PyTorch's does after the pass `lower_graph`.
    Keyword arguments, `check_trace` and `check_inputs` are left out. No warning says that tracing is deprecated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError
from glasstorch.jit.executor import GraphExecutor
from glasstorch.jit.ir import Graph, Value
from glasstorch.jit.tracer import trace_graph
from glasstorch.jit.types import ListType, TupleType, Type
from glasstorch.nn.module import Module


class ScriptFunction:
    """A traced function: calling it runs its `graph`, whatever the function's source says by now."""

    def __init__(self, name: str, graph: Graph) -> None:
        self.name = name
        self.graph = graph
        self._names = [value.debug_name for value in graph.inputs]
        self._executor = GraphExecutor(graph)

    def __call__(self, *args: Any) -> Any:
        _check_inputs(self.name, self.graph.inputs, args)
        return self._executor(*args)[0]

    def graph_for(self, *args: Any) -> Graph:
        """The graph that a call with these arguments runs, after all passes."""
        _check_inputs(self.name, self.graph.inputs, args)
        return self._executor.graph_for(*args)

    def __repr__(self) -> str:
        return f"<glasstorch.jit.ScriptFunction {self.name}({', '.join(self._names)})>"


class TopLevelTracedModule(Module):
    """A traced module: parameters, buffers and children are those of the module, but calling it runs the graph.

    The parameters are read at every call, so that training them trains this. What `train` and `eval` change in a
    module's code was fixed when it was traced.
    """

    def __init__(self, original: Module, graph: Graph, used_parameters: Sequence[str]) -> None:
        super().__init__()
        self.original_name = type(original).__name__
        self.training = original.training
        self._parameters = dict(original._parameters)
        self._buffers = dict(original._buffers)
        self._non_persistent_buffers_set = set(original._non_persistent_buffers_set)
        self._modules = dict(original._modules)
        self.graph = graph
        self._executor = GraphExecutor(graph)
        self._sources = [_slot(self, name) for name in used_parameters]

    def forward(self, *args: Any) -> Any:
        """What the module computed when it was traced, for these inputs."""
        return self._executor(*self._complete(args))[0]

    def graph_for(self, *args: Any) -> Graph:
        """The graph that a call with these arguments runs, after all passes."""
        return self._executor.graph_for(*self._complete(args))

    def _complete(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments and the parameters that the graph takes after them."""
        inputs = self.graph.inputs
        _check_inputs("forward", inputs[: len(inputs) - len(self._sources)], args)
        return *args, *(held[name] for held, name in self._sources)

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


def _slot(module: Module, path: str) -> tuple[dict[str, Any], str]:
    """The dictionary that holds a parameter or buffer, and its key there."""
    *parents, name = path.split(".")
    for parent in parents:
        child = module._modules[parent]
        assert child is not None, f"{path} is a parameter of no module"
        module = child
    held: dict[str, Any] = module._parameters if name in module._parameters else module._buffers
    return held, name


def trace(func: Any, example_inputs: Any) -> Any:
    """Run a function or a module once on example inputs, and give what it did as a graph to run again.

    The inputs are a tuple of tensors, or of tuples and lists of them; a single tensor need not be in one. The function
    really runs: what it does in place to its inputs, it does to the examples. The graph has the operators of this one
    run: sizes, Python numbers and the way taken at each `if` are fixed. A tensor turned into a Python value issues a
    TracerWarning at its line.

    Returns a ScriptFunction, or a TopLevelTracedModule for a module. Refused: a result that is not tensors, a tensor
    that requires grad and is neither an input nor a parameter, tracing while tracing.

    >>> import glasstorch as torch
    >>> traced = trace(lambda x: x.exp().neg(), torch.zeros(2))
    >>> traced(torch.zeros(3))
    tensor([-1., -1., -1.])
    """
    if isinstance(func, ScriptFunction | TopLevelTracedModule):
        return func
    if not callable(func):
        raise TypeError(f"trace: expected a function or a module, got {func!r} of type {type(func).__name__}")
    inputs = (example_inputs,) if isinstance(example_inputs, Tensor) else tuple(example_inputs)
    if isinstance(func, Module):
        held = {id(tensor): (name, tensor) for name, tensor in [*func.named_parameters(), *func.named_buffers()]}
        state = trace_graph(func, inputs, _names(func.forward, len(inputs)), held)
        return TopLevelTracedModule(func, state.graph, state.used_parameters)
    state = trace_graph(func, inputs, _names(func, len(inputs)), {})
    return ScriptFunction(getattr(func, "__qualname__", type(func).__name__), state.graph)


def _names(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the parameters that so many positional arguments go to; `args_1` for those of a `*args`."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # a function of C that does not say
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "input")
    return [plain[i] if i < len(plain) else f"{rest}_{i - len(plain) + 1}" for i in range(count)]


def _check_inputs(name: str, inputs: Sequence[Value], args: Sequence[Any]) -> None:
    """Refuse a call with too few or too many arguments, or with other things than were traced."""
    declaration = f"{name}({', '.join(f'{v.type.unshaped()} {v.debug_name}' for v in inputs)})"
    if len(args) > len(inputs):
        raise ArgumentError(
            f"{name}() expected at most {len(inputs)} argument(s) but received {len(args)} argument(s). "
            f"Declaration: {declaration}"
        )
    if len(args) < len(inputs):
        missing = inputs[len(args)].debug_name
        raise ArgumentError(f"{name}() is missing value for argument '{missing}'. Declaration: {declaration}")
    for i, (value, given) in enumerate(zip(inputs, args, strict=True)):
        if not _fits(value.type, given):
            raise ArgumentError(
                f"{name}() Expected a value of type '{value.type.unshaped()}' for argument '{value.debug_name}' but "
                f"instead found type '{type(given).__name__}'.\nPosition: {i}\nValue: {given}\n"
                f"Declaration: {declaration}"
            )


def _fits(type: Type, given: Any) -> bool:
    """Whether an argument has the structure of an input: a tensor, or a tuple or list of them."""
    if isinstance(type, TupleType):
        return isinstance(given, tuple) and len(given) == len(type.elements) and all(map(_fits, type.elements, given))
    if isinstance(type, ListType):
        return isinstance(given, list) and all(_fits(type.element, element) for element in given)
    return isinstance(given, Tensor)
