"""How is a function or a module traced, and what is the result?

Mirrors: torch/jit/_trace.py (trace, TopLevelTracedModule)
Differs: no warning says that tracing is deprecated.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.jit._script import ScriptFunction, ScriptModule
from glasstorch.jit.ir import Graph
from glasstorch.jit.tracer import trace_graph
from glasstorch.nn.module import Module


class TopLevelTracedModule(ScriptModule):
    """A traced module."""

    def __init__(self, original: Module, graph: Graph, used_parameters: Sequence[str]) -> None:
        super().__init__(original, type(original).__name__, graph, used_parameters)


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
    if isinstance(func, ScriptFunction | ScriptModule):
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
