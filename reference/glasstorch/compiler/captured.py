"""How does a function run by the graphs that were captured of it?

Mirrors: torch/_dynamo/eval_frame.py (optimize, explain), torch/_dynamo/convert_frame.py
Differs: the function is wrapped. A call that cannot be captured runs as it is, and so does each further call with
    arguments for which the same holds; the reasons are kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, Final, NamedTuple

from glasstorch.compiler.bytecode.capture import Captured, capture
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.fx.graph_module import GraphModule
from glasstorch.nn.modules.module import Module

Backend = Callable[[GraphModule, list[Any]], Callable[..., Any]]
RECOMPILE_LIMIT: Final = 8  # graphs of one function, after which it runs as it is


class Entry(NamedTuple):
    """A compiled graph, with what says when it may be used and how to use it."""

    captured: Captured
    check: Callable[[dict[str, Any], dict[str, Any]], bool]
    fetch: Callable[[dict[str, Any], dict[str, Any]], list[Any]]
    run: Callable[..., Any]


class Break(NamedTuple):
    """Why a call was not captured."""

    reason: str
    where: str


class Optimized:
    """The graphs of one function, and the calls of it that could not be captured."""

    def __init__(self, fn: FunctionType, backend: Backend, fullgraph: bool, limit: int) -> None:
        self.fn = fn
        self.backend = backend
        self.fullgraph = fullgraph
        self.limit = limit
        self.entries: list[Entry] = []
        self.breaks: list[Break] = []
        self.recompiles: list[str] = []  # for each graph but the first, the guard that did not hold
        self.arguments_of = _binder(fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, from a graph if one holds or can be made."""
        arguments = self.arguments_of(*args, **kwargs)
        for entry in self.entries:
            if self._holds(entry, arguments):
                return self._run(entry, arguments)
        if len(self.entries) >= self.limit or (self.breaks and not self.fullgraph):
            return self.fn(*args, **kwargs)
        try:
            captured = capture(self.fn, arguments)
        except Unsupported as error:
            if self.fullgraph:
                raise
            self.breaks.append(Break(error.reason, error.where))
            return self.fn(*args, **kwargs)
        except Exception as error:  # the program's own error, which it raises again below
            if self.fullgraph:
                raise
            self.breaks.append(Break(f"{type(error).__name__} while the program was captured: {error}", ""))
            return self.fn(*args, **kwargs)
        entry = self._compiled(captured, arguments)
        self._note_recompile(arguments)
        self.entries.insert(0, entry)
        return self._run(entry, arguments)

    def _holds(self, entry: Entry, arguments: dict[str, Any]) -> bool:
        try:
            return entry.check(arguments, self.fn.__globals__)
        except (AttributeError, KeyError, IndexError, TypeError):  # something that a guard looks up is gone
            return False

    def _compiled(self, captured: Captured, arguments: dict[str, Any]) -> Entry:
        names = captured.guards.names.copy()
        exec(f"def fetch(L, G):\n    return [{', '.join(captured.inputs)}]", names)
        fetch = names["fetch"]
        inputs = fetch(arguments, self.fn.__globals__)
        run = self.backend(captured.module, inputs) if len(captured.module.graph.nodes) > 1 else captured.module.forward
        return Entry(captured, captured.guards.compiled(), fetch, run)

    def _run(self, entry: Entry, arguments: dict[str, Any]) -> Any:
        names = self.fn.__globals__
        inputs = entry.fetch(arguments, names)
        found = entry.run(inputs) if getattr(entry.run, "_boxed_call", False) else entry.run(*inputs)
        return entry.captured.replay.run(found, arguments, names)[0]

    def _note_recompile(self, arguments: dict[str, Any]) -> None:
        if self.entries:
            failed = self.entries[0].captured.guards.first_failure(arguments, self.fn.__globals__)
            self.recompiles.append(str(failed))


def _binder(fn: FunctionType) -> Callable[..., dict[str, Any]]:
    """A function with the parameters of another one that gives its arguments by name."""
    parameters = inspect.signature(fn, follow_wrapped=False).parameters.values()
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    names: dict[str, Any] = {}
    for i, p in enumerate(plain):
        if p.default is not inspect.Parameter.empty:
            names[f"default_{i}"] = p.default
            plain[i] = p.replace(default=_Name(f"default_{i}"))
    returned = ", ".join(f"{p.name!r}: {p.name}" for p in plain)
    exec(f"def bind{inspect.Signature(plain)}:\n    return {{{returned}}}", names)
    bind: Callable[..., dict[str, Any]] = names["bind"]
    bind.__name__ = bind.__qualname__ = fn.__name__
    return bind


class _Name(NamedTuple):
    """A default value in the text of a signature: a name that leads to it."""

    text: str

    def __repr__(self) -> str:
        return self.text


def optimize(backend: Backend, *, nopython: bool = False, limit: int = RECOMPILE_LIMIT) -> Callable[[Any], Any]:
    """A decorator: the function, or the module's `forward`, runs by graphs that the backend compiles.

    A backend gets a module with a graph and example inputs, and returns a function of those inputs. With `nopython`, a
    call that cannot be captured raises Unsupported; otherwise it runs as it is.
    """

    def decorate(target: Any) -> Any:
        if isinstance(target, Module):
            return _optimized_module(target, decorate)
        if not isinstance(target, FunctionType):
            raise TypeError(f"optimize: expected a Python function or a module, got {type(target).__name__}")
        run = Optimized(target, backend, nopython, limit)

        @wraps(target)
        def compiled(*args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs)

        compiled._optimized = run  # type: ignore[attr-defined]
        return compiled

    return decorate


def _optimized_module(module: Module, decorate: Callable[[Any], Any]) -> Module:
    forward = decorate(type(module).forward)

    class OptimizedModule(Module):
        """A module whose `forward` runs by graphs; parameters and buffers are those of the original one."""

        def __init__(self) -> None:
            super().__init__()
            self._orig_mod = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return forward(module, *args, **kwargs)

    made = OptimizedModule()
    made.training = module.training
    return made


class ExplainOutput(NamedTuple):
    """What a call was captured as."""

    graphs: list[GraphModule]
    break_reasons: list[Break]
    op_count: int
    out_guards: list[Any]

    @property
    def graph_count(self) -> int:
        """The number of graphs."""
        return len(self.graphs)

    @property
    def graph_break_count(self) -> int:
        """The number of places where the capture ended early."""
        return len(self.break_reasons)

    def __str__(self) -> str:
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}"]
        lines.append(f"Op Count: {self.op_count}")
        lines.append("Break Reasons:")
        for i, reason in enumerate(self.break_reasons, 1):
            lines += [f"  Break Reason {i}:", f"    Reason: {reason.reason}", f"    User Stack: {reason.where}"]
        lines.append("Guards:")
        lines += [f"  {guard}" for guard in self.out_guards]
        return "\n".join(lines)


def explain(fn: Callable[..., Any]) -> Callable[..., ExplainOutput]:
    """A function that takes what `fn` takes, captures the call, runs it, and says what the capture gave."""

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        graphs: list[GraphModule] = []

        def backend(module: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
            graphs.append(module)
            return module.forward

        compiled = optimize(backend)(fn)
        compiled(*args, **kwargs)
        run: Optimized = compiled._optimized
        count = sum(node.op.startswith("call") for module in graphs for node in module.graph.nodes)
        guards = [guard for entry in run.entries for guard in entry.captured.guards.all]
        return ExplainOutput(graphs, run.breaks, count, guards)

    return explained
