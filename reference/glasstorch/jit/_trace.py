"""How is a function or a module traced, and what is the result?

Mirrors: torch/jit/_trace.py (trace, TopLevelTracedModule)
Differs: no warning says that tracing is deprecated.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.jit._script import ScriptFunction, ScriptModule, TracedModule
from glasstorch.jit.check_trace import TracingCheckError as TracingCheckError
from glasstorch.jit.check_trace import check_trace as run_checks
from glasstorch.jit.check_trace import clone_inputs
from glasstorch.jit.ir import Graph
from glasstorch.jit.tracer import TracerWarning as TracerWarning
from glasstorch.jit.tracer import trace_graph
from glasstorch.nn.modules.module import Module


class TopLevelTracedModule(ScriptModule):
    """A traced module."""

    def __init__(self, original: Module, graph: Graph, used_parameters: Sequence[str]) -> None:
        held = TracedModule(original)
        super().__init__(held, held.original_name, graph, used_parameters)


def trace(
    func: Any,
    example_inputs: Any = None,
    *,
    check_trace: bool = True,
    check_inputs: Iterable[Any] | None = None,
    check_tolerance: float = 1e-5,
    example_kwarg_inputs: Mapping[str, Any] | None = None,
) -> Any:
    """Run a function or a module once on example inputs, and return its operators as a graph that can be run again.

    The inputs are a tuple of tensors, or of tuples and lists of them; a single tensor may be given itself. With
    `example_kwarg_inputs` they are given by name instead. The function is actually run: its in-place operations change
    the examples. The graph has the operators of this one run: sizes, Python numbers and the branch taken at each `if`
    are fixed. Converting a tensor to a Python value issues a TracerWarning that names the line.

    Unless `check_trace` is False, the function is then traced again, and the graph and the function are run, on copies
    of the inputs, or of each of `check_inputs`. Outputs that differ by more than `check_tolerance`, relative to the
    function's, issue a TracerWarning; a different graph raises TracingCheckError.

    Returns a ScriptFunction, or a TopLevelTracedModule for a module. Refused are results other than tensors, a tensor
    that requires grad and is neither an input nor a parameter, and nested tracing.

    >>> import glasstorch as torch
    >>> traced = trace(lambda x: x.exp().neg(), torch.zeros(2))
    >>> traced(torch.zeros(3))
    tensor([-1., -1., -1.])
    """
    if isinstance(func, ScriptFunction | ScriptModule):
        warnings.warn(
            f"The input to trace is already a {type(func).__name__}, tracing it is a no-op. Returning the object as "
            "is.",
            stacklevel=2,
        )
        return func
    if not callable(func):
        raise TypeError(f"trace: expected a function or a module, got {func!r} of type {type(func).__name__}")
    func = _module_of_forward(func)
    if (example_inputs is None) == (example_kwarg_inputs is None):
        given = "neither" if example_inputs is None else "both"
        raise TypeError(f"trace: expected either example_inputs or example_kwarg_inputs, got {given}")
    called = func.forward if isinstance(func, Module) else func
    if example_kwarg_inputs is not None:
        names = _in_order(called, example_kwarg_inputs)
        function, inputs = _by_name(func, names), tuple(example_kwarg_inputs[name] for name in names)
    else:
        function, inputs = func, _as_tuple(example_inputs)
        names = _names(called, len(inputs))
    checks = [inputs] if check_inputs is None else list(map(_as_tuple, check_inputs))
    if check_trace and check_inputs is None:
        checks = [clone_inputs(inputs)]  # before the run: the function may change them
    traced = _trace(func, function, names, inputs)
    if check_trace:
        run_checks(function, traced, lambda given: _trace(func, function, names, given), checks, check_tolerance)
    return traced


def _module_of_forward(func: Any) -> Any:
    """The module if `func` is its `forward`, else the function itself; other methods of modules are refused."""
    owner = getattr(func, "__self__", None)
    if not isinstance(owner, Module):
        return func
    if func.__name__ != "forward":
        raise AttributeError(
            f"trace doesn't support compiling individual module's functions: got {type(owner).__name__}."
            f"{func.__name__}; expected the module, whose forward is traced, or a function"
        )
    return owner


def _as_tuple(inputs: Any) -> tuple[Any, ...]:
    """The inputs of one call as a tuple; a tensor becomes a tuple of one."""
    if isinstance(inputs, Tensor):
        return (inputs,)
    if isinstance(inputs, str | Mapping) or not isinstance(inputs, Iterable):
        raise TypeError(
            f"trace: expected the inputs of a call as a tuple, or as a tensor if it is the only one, got {inputs!r} of "
            f"type {type(inputs).__name__}"
        )
    return tuple(inputs)


def _by_name(func: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """The function with these keyword arguments as positional ones, in order."""
    return lambda *values: func(**dict(zip(names, values, strict=True)))


def _trace(func: Any, function: Callable[..., Any], names: list[str], inputs: tuple[Any, ...]) -> Any:
    """Trace `func`, calling it through `function`."""
    if isinstance(func, Module):
        held = {id(tensor): (name, tensor) for name, tensor in [*func.named_parameters(), *func.named_buffers()]}
        state = trace_graph(function, inputs, names, held)
        return TopLevelTracedModule(func, state.graph, state.used_parameters)
    state = trace_graph(function, inputs, names, {})
    name = getattr(func, "__name__", type(func).__name__)
    return ScriptFunction("_lambda" if name == "<lambda>" else name, state.graph)


def _names(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the parameters that receive `count` positional arguments; `args_1` ... for those of `*args`."""
    parameters = _parameters(function)
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "input")
    return [plain[i] if i < len(plain) else f"{rest}_{i - len(plain) + 1}" for i in range(count)]


def _in_order(function: Callable[..., Any], names: Iterable[str]) -> list[str]:
    """The names in the order of the function's parameters; unknown names come last."""
    order = [parameter.name for parameter in _parameters(function)]
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # a C function without a signature
        return []
