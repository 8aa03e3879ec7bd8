"""How does a function run by the graphs that were captured of it?

Mirrors: torch/_dynamo/eval_frame.py (optimize, explain), torch/_dynamo/convert_frame.py
Differs: the function is wrapped. A call that cannot be captured runs as it is, and so does each further call with
    arguments for which the same holds; the reasons are kept.
"""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from glasstorch.compiler.bytecode.capture import Captured, capture
from glasstorch.compiler.bytecode.unsupported import TorchDynamoException, Unsupported
from glasstorch.compiler.counters import counters
from glasstorch.compiler.errors import BackendCompilerFailed, FailOnRecompileLimitHit, RecompileError
from glasstorch.compiler.settings import settings
from glasstorch.compiler.stance import state
from glasstorch.fx.graph_module import GraphModule

Backend = Callable[[GraphModule, list[Any]], Callable[..., Any]]
log = logging.getLogger("glasstorch._dynamo")


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

    def __init__(self, fn: FunctionType, backend: Backend, fullgraph: bool, limit: int | None = None) -> None:
        self.fn = fn
        self.backend = backend
        self.fullgraph = fullgraph
        self.limit = limit  # instead of the setting `recompile_limit`
        self.arguments_of = _binder(fn)
        self.reset()
        _all.add(self)

    def reset(self) -> None:
        """Forget all graphs."""
        self.entries: list[Entry] = []
        self.breaks: list[Break] = []
        self.recompiles: list[str] = []  # for each graph but the first, the guard that did not hold
        self.is_over_limit = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, from a graph if one holds or can be made."""
        if not state.plain and state.name == "force_eager":
            return self.fn(*args, **kwargs)
        arguments = self.arguments_of(*args, **kwargs)
        for entry in self.entries:
            if self._holds(entry, arguments):
                return self._run(entry, arguments)
        if (self.breaks and not self.fullgraph) or self._may_not_compile(arguments):
            return self.fn(*args, **kwargs)
        counters["frames"]["total"] += 1
        try:
            captured = capture(self.fn, arguments)
        except Unsupported as error:
            if self.fullgraph:
                raise
            counters["graph_break"][error.reason] += 1
            self.breaks.append(Break(error.reason, error.where))
            return self.fn(*args, **kwargs)
        except Exception as error:  # the program's own error, which it raises again below
            if self.fullgraph:
                raise
            self.breaks.append(Break(f"{type(error).__name__} while the program was captured: {error}", ""))
            return self.fn(*args, **kwargs)
        entry = self._compiled(captured, arguments)
        counters["frames"]["ok"] += 1
        self._note_recompile(arguments)
        self.entries.insert(0, entry)
        return self._run(entry, arguments)

    def _may_not_compile(self, arguments: dict[str, Any]) -> bool:
        """Whether the function runs as it is where no graph holds; an error where the program wants one."""
        code = self.fn.__code__
        if self.is_over_limit or settings.disable or state.name == "eager_on_recompile":
            return True
        if state.name == "fail_on_recompile":
            raise RuntimeError(
                "Detected recompile when torch.compile stance is 'fail_on_recompile'. "
                f"filename: '{code.co_filename}', function name: '{code.co_name}', line number: {code.co_firstlineno}"
                + (
                    f"\n    triggered by the following guard failure(s):{self._failures(arguments)}"
                    if self.entries
                    else ""
                )
            )
        if self.entries and settings.error_on_recompile:
            raise RecompileError(
                f"Recompiling function {code.co_name} in {code.co_filename}:{code.co_firstlineno}\n"
                f"    triggered by the following guard failure(s):{self._failures(arguments)}"
            )
        limit = settings.recompile_limit if self.limit is None else self.limit
        if len(self.entries) < limit:
            return False
        hit = f"torch._dynamo hit config.recompile_limit ({limit})"
        if self.fullgraph or settings.fail_on_recompile_limit_hit:
            raise FailOnRecompileLimitHit(f"{hit}; the function must be one graph")
        self.is_over_limit = True
        log.warning(
            "%s\n   function: '%s' (%s:%d)\n   last reason: %s\n"
            'To log all recompilation reasons, use GLASSTORCH_LOGS="recompiles".',
            hit, code.co_name, code.co_filename, code.co_firstlineno,
            self.entries[0].captured.guards.first_failure(arguments, self.fn.__globals__),
        )  # fmt: skip
        return True

    def _failures(self, arguments: dict[str, Any]) -> str:
        """A line for each graph: the guard that does not hold."""
        names = self.fn.__globals__
        count = len(self.entries) - 1
        return "".join(
            f"\n    - 0/{count - i}: {entry.captured.guards.first_failure(arguments, names)}"
            for i, entry in enumerate(self.entries)
        )

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
        run = self._run_of(captured.module, inputs)
        return Entry(captured, captured.guards.compiled(), fetch, run)

    def _run_of(self, module: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        """What the backend makes of a graph; a graph that computes nothing runs as it is."""
        calls = sum(node.op.startswith("call") for node in module.graph.nodes)
        if not calls:
            run: Callable[..., Any] = module.forward
            return run
        counters["stats"]["calls_captured"] += calls
        counters["stats"]["unique_graphs"] += 1
        backend = state.backend or self.backend
        try:
            return backend(module, inputs)
        except TorchDynamoException:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a backend raises is told with its name
            raise BackendCompilerFailed(backend, error).with_traceback(error.__traceback__) from None

    def _run(self, entry: Entry, arguments: dict[str, Any]) -> Any:
        names = self.fn.__globals__
        inputs = entry.fetch(arguments, names)
        found = entry.run(inputs) if getattr(entry.run, "_boxed_call", False) else entry.run(*inputs)
        return entry.captured.replay.run(found, arguments, names)[0]

    def _note_recompile(self, arguments: dict[str, Any]) -> None:
        if self.entries:
            failed = self.entries[0].captured.guards.first_failure(arguments, self.fn.__globals__)
            self.recompiles.append(str(failed))


_all: weakref.WeakSet[Optimized] = weakref.WeakSet()


def reset() -> None:
    """Forget what has been compiled."""
    for one in list(_all):
        one.reset()
    counters.clear()


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
