"""How does a function run by the graphs that were captured of it?

Mirrors: torch/_dynamo/convert_frame.py, torch/csrc/dynamo/cache_entry.h (CacheEntry)
Differs: the function is wrapped; PyTorch puts new code in place of a frame's. Where a graph ends early, the instruction
    that it cannot hold and the rest of the function are called from here. A function that is called there is compiled
    too; what it calls in turn is seen only if it is captured.
"""

from __future__ import annotations

import inspect
import logging
import sys
import sysconfig
import threading
import warnings
import weakref
from collections.abc import Callable
from contextvars import copy_context
from functools import cache, wraps
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, Final, NamedTuple

from glasstorch.compiler.bytecode.assembled import Place, function_of, place_after, resume_code, step_code
from glasstorch.compiler.bytecode.blocks import enter
from glasstorch.compiler.bytecode.breaks import Rest
from glasstorch.compiler.bytecode.calls import is_of_a_library
from glasstorch.compiler.bytecode.capture import GENERATOR, ITSELF, Captured, capture
from glasstorch.compiler.bytecode.instructions import instructions_of, is_understood
from glasstorch.compiler.bytecode.raising import is_the_programs
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.vocabulary import names_of_versions
from glasstorch.compiler.compilation import Backend as Backend
from glasstorch.compiler.compilation import Compilation
from glasstorch.compiler.counters import counters
from glasstorch.compiler.errors import FailOnRecompileLimitHit, InternalTorchDynamoError, RecompileError
from glasstorch.compiler.guard_filters import keep
from glasstorch.compiler.guards import asked_modes
from glasstorch.compiler.logs import is_on, tell
from glasstorch.compiler.marks import innermost, why_disabled
from glasstorch.compiler.mismatch import failure
from glasstorch.compiler.optimized_module import calling
from glasstorch.compiler.settings import settings
from glasstorch.compiler.shapes import Sizes
from glasstorch.compiler.stance import state
from glasstorch.compiler.watching import timed, told, watchers
from glasstorch.core.random.generator import default_generator
from glasstorch.core.symbols import is_symbol
from glasstorch.dispatch.mode_stack import modes
from glasstorch.func.layers import current
from glasstorch.fx.experimental._symbols.contexts import ConstraintViolationError
from glasstorch.fx.experimental._symbols.errors import GuardOnDataDependentSymNode
from glasstorch.nn.modules.module import Module

# What the capture may raise without a fault of its own: it does not know something, or a program calls too deep.
LIMITS: Final = (NotImplementedError, RecursionError, GuardOnDataDependentSymNode, ConstraintViolationError)
STANDARD_LIBRARY: Final = sysconfig.get_paths()["stdlib"]
log = logging.getLogger("glasstorch._dynamo")
_making = threading.RLock()


class Entry(NamedTuple):
    """A compiled graph, with what says when it may be used and how to use it."""

    captured: Captured
    check: Callable[[dict[str, Any], dict[str, Any]], bool]
    fetch: Callable[[dict[str, Any], dict[str, Any]], list[Any]]
    run: Callable[..., Any]


class Optimized:
    """The graphs of one function, and the calls of it that could not be captured."""

    def __init__(self, fn: FunctionType, of: Compilation, *, is_part: bool = False, is_rest: bool = False) -> None:
        self.fn = fn
        self.of = of
        self.is_part = is_part  # whether another function that is compiled has led to it
        self.code = fn.__code__
        self.defaults = fn.__defaults__, fn.__kwdefaults__
        # The rest of a function is called with arguments by name, and some names are no names of parameters.
        self.arguments_of = dict if is_rest else _binder(fn)
        self.reset()
        _all.add(self)

    def reset(self) -> None:
        """Forget all graphs."""
        if not self.is_part:
            self.of.forget()
        self.entries: list[Entry] = []
        self.recompiles: list[str] = []  # for each graph but the first, the guard that did not hold
        self.is_skipped = False  # whether the function runs as it is where no graph holds
        self.failures = 0  # captures that ended with an error of the program
        self.sizes = Sizes(self.of.dynamic)

    @property
    def breaks(self) -> list[Any]:
        """Why captures ended early, in this function and in those that it calls."""
        return self.of.breaks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, from a graph if one holds or can be made."""
        if not state.plain and state.name == "force_eager":
            return self.fn(*args, **kwargs)
        if self.fn.__code__ is not self.code:
            self.code = self.fn.__code__
            self.reset()
            self.arguments_of = _binder(self.fn)
        if self.fn.__defaults__ is not self.defaults[0] or self.fn.__kwdefaults__ is not self.defaults[1]:
            self.defaults = self.fn.__defaults__, self.fn.__kwdefaults__
            self.arguments_of = _binder(self.fn)
        return self.call(self.arguments_of(*args, **kwargs), lambda: self.fn(*args, **kwargs))

    def call(self, arguments: dict[str, Any], as_it_is: Callable[[], Any]) -> Any:
        """The function's result, for arguments by name; `as_it_is` runs the function without graphs."""
        for entry in self.entries:
            if self._holds(entry, arguments):
                return self._run(entry, arguments, as_it_is)
        # Where a transform such as `vmap`, or a mode, is asked by every call, no graph holds: the guards know of it.
        if state.is_capturing or current() is not None or modes.get() or asked_modes():
            return as_it_is()
        made = self._made(arguments)
        return as_it_is() if made is None else self._run(made, arguments, as_it_is)

    def _made(self, arguments: dict[str, Any]) -> Entry | None:
        """A new graph; None where the function has to run as it is. One thread at a time makes one."""
        with _making:
            for entry in self.entries:
                if self._holds(entry, arguments):  # another thread has made it meanwhile
                    return entry
            return None if self._may_not_compile(arguments) else self._new(arguments)

    def _new(self, arguments: dict[str, Any]) -> Entry | None:
        captured = self._capture(arguments)
        if captured is None:
            return None
        told("captured", by=self, captured=captured)
        if self.entries and watchers:
            told("recompiled", by=self, reasons=self._failures(arguments))
        try:
            entry = self._compiled(captured, arguments)
        except Exception as error:
            if not settings.suppress_errors or self.of.fullgraph:
                raise
            log.warning("%s runs as it is: %s", _place(self.fn.__code__), error, exc_info=settings.verbose)
            self.is_skipped = True
            return None
        counters["frames"]["ok"] += 1
        code = self.fn.__code__
        if is_on("guards"):
            lines = (f"\n  {guard}" for guard in captured.guards.all)
            tell("guards", f"{_place(code)}{''.join(lines)}")
        if self.entries:
            tell("recompiles", f"Recompiling function {_place(code)}{self._failures(arguments)}")
            self.recompiles.append(str(self._first_failure(self.entries[0], arguments)))
        self.entries.insert(0, entry)
        if len(self.entries) == 1:
            self.of.functions.append(self)
        return entry

    def _capture(self, arguments: dict[str, Any]) -> Captured | None:
        """What was captured; None where the function has to run as it is."""
        if not is_understood():
            _say_that_python_is_unknown()
        counters["frames"]["total"] += 1
        fullgraph = self.of.fullgraph
        state.is_capturing = True
        try:
            with timed("capture"):
                captured = capture(self.fn, arguments, whole=fullgraph, sizes=self.sizes)
        except Unsupported as error:
            if fullgraph:
                raise
            self.of.note(error, goes_on=False)
            self.is_skipped = True
            return None
        except Exception as error:
            if not is_the_programs(error) and not isinstance(error, LIMITS):
                self._check_internal(error)
            elif fullgraph or getattr(error, "is_for_the_program", False):
                raise
            # The program's own error, which the function raises again as it runs as it is.
            reason = f"{type(error).__name__} while the program was captured: {error}"
            self.of.note(Unsupported(reason), goes_on=False)
            self.failures += 1
            self.is_skipped |= self.failures >= self.of.recompile_limit
            return None
        finally:
            state.is_capturing = False
        if captured.why is not None and captured.rest is not None:
            self.of.note(captured.why, goes_on=True, is_branch=captured.rest.branch is not None)
        return captured

    def _check_internal(self, error: Exception) -> None:
        """Raise a fault of the capture, unless the program is to run as it is where the compiler fails.

        An error that is no failed assertion may be the program's too, which then raises it again; it is told.
        """
        may_go_on = settings.suppress_errors or not isinstance(error, AssertionError)
        if self.of.fullgraph or not may_go_on:
            raise InternalTorchDynamoError(error).with_traceback(error.__traceback__) from None
        what = f"{type(error).__qualname__}: {error}"
        log.warning("%s runs as it is: %s", _place(self.fn.__code__), what, exc_info=settings.verbose)
        self.is_skipped = True

    def _may_not_compile(self, arguments: dict[str, Any]) -> bool:
        """Whether the function runs as it is where no graph holds; an error where the program wants one."""
        if self.is_skipped or settings.disable or state.name == "eager_on_recompile":
            return True
        code = self.fn.__code__
        if state.name == "fail_on_recompile":
            raise RuntimeError(
                "Detected recompile when torch.compile stance is 'fail_on_recompile'. "
                f"filename: '{code.co_filename}', function name: '{code.co_name}', line number: {code.co_firstlineno}"
                + self._failures(arguments)
            )
        if self.entries and settings.error_on_recompile:
            raise RecompileError(f"Recompiling function {_place(code)}{self._failures(arguments)}")
        limit = self.of.recompile_limit
        if len(self.entries) < limit:
            return False
        hit = f"torch._dynamo hit config.recompile_limit ({limit})"
        if self.of.fullgraph or settings.fail_on_recompile_limit_hit:
            raise FailOnRecompileLimitHit(f"{hit}; the function must be one graph")
        self.is_skipped = True
        log.warning(
            "%s\n   function: '%s' (%s:%d)\n   last reason: 0/%d: %s\n"
            'To log all recompilation reasons, use GLASSTORCH_LOGS="recompiles".',
            hit, code.co_name, code.co_filename, code.co_firstlineno, len(self.entries) - 1,
            self._first_failure(self.entries[0], arguments),
        )  # fmt: skip
        return True

    def _first_failure(self, entry: Entry, arguments: dict[str, Any]) -> Any:
        return failure(entry.captured.guards, arguments, self.fn.__globals__)

    def _failures(self, arguments: dict[str, Any]) -> str:
        """A line for each graph: the guard that does not hold."""
        count = len(self.entries) - 1
        lines = (
            f"\n    - 0/{count - i}: {self._first_failure(entry, arguments)}" for i, entry in enumerate(self.entries)
        )
        return "".join(("\n    triggered by the following guard failure(s):", *lines)) if self.entries else ""

    def _holds(self, entry: Entry, arguments: dict[str, Any]) -> bool:
        try:
            return entry.check(arguments, self.fn.__globals__)
        except (AttributeError, KeyError, IndexError, TypeError):  # something that a guard looks up is gone
            return False

    def _compiled(self, captured: Captured, arguments: dict[str, Any]) -> Entry:
        if self.of.guard_filter is not None:
            keep(captured.guards, self.of.guard_filter, arguments, self.fn.__globals__)
        names = captured.guards.names.copy()
        exec(f"def fetch(L, G):\n    return [{', '.join(captured.inputs)}]", names)
        fetch = names["fetch"]
        places = captured.module.graph.find_nodes(op="placeholder")
        known = [node.meta["example_value"] for node in places]  # of a symbol it says what it is
        inputs = fetch(arguments, self.fn.__globals__)
        inputs = [e if is_symbol(e) else value for e, value in zip(known, inputs, strict=True)]
        run = self.of.run_of(captured.module, inputs)
        return Entry(captured, captured.guards.compiled(), fetch, run)

    def _run(self, entry: Entry, arguments: dict[str, Any], as_it_is: Callable[[], Any]) -> Any:
        names = self.fn.__globals__
        inputs = entry.fetch(arguments, names)
        given = [inputs] if getattr(entry.run, "_boxed_call", False) else inputs
        drawn = default_generator.get_state() if entry.captured.runs_again else None
        try:
            # A mode that the graph sets ends with it, also where an error ends the graph; `replay` sets what stays.
            found = copy_context().run(entry.run, *given) if entry.captured.sets_modes else entry.run(*given)
        except Exception:
            if drawn is None:
                raise
            default_generator.set_state(drawn)
            return as_it_is()
        values = entry.captured.replay.run(found, arguments, names)
        rest = entry.captured.rest
        return values[0] if rest is None else self._go_on(rest, values)

    # After a graph that ended early ------------------------------------------------------------------------------

    def _go_on(self, rest: Rest, values: list[Any]) -> Any:
        """Run the instruction that the graph could not hold, and then the rest of the function."""
        count = sum(rest.taken)
        taken, left = values[:count], values[count:]
        if rest.is_call:
            taken[0] = self._callee(taken[0])
        step = self._part(("step", rest), lambda: function_of(step_code(rest), self.fn.__globals__))
        with enter(rest.blocks):
            pushed = step(*taken)
        target = rest.number + 1
        if rest.branch is not None:
            wanted, stays = rest.branch
            is_taken = pushed is wanted
            target = rest.instruction.target if is_taken else target
            pushed = tuple(taken) if is_taken and stays else ()
        elif len(pushed) == 1 and instructions_of(rest.code)[target].name == "POP_TOP":
            target, pushed = target + 1, ()
        kept = rest.kept.count(True)
        cells = tuple(left[kept + len(rest.names) :])
        given = [*left[:kept], *pushed, *left[kept : kept + len(rest.names)]]
        place = place_after(rest, target, len(pushed))
        resume = self._part(("resume", place), lambda: Resume(place, self))
        return resume.call(given, cells)

    def _part(self, key: Any, make: Callable[[], Any]) -> Any:
        found = self.of.parts.get(key)
        if found is None:
            found = self.of.parts[key] = make()
        return found

    def _callee(self, callee: Any) -> Any:
        """What a function that is called as it is runs as: a function of the program is compiled too."""
        callee = innermost(callee) if getattr(callee, "_is_torch_compile", False) else callee
        if isinstance(callee, MethodType):
            run = self._callee(callee.__func__)
            return callee if run is callee.__func__ else MethodType(run, callee.__self__)
        if len(self.of.parts) >= settings.accumulated_recompile_limit:
            return callee
        if isinstance(callee, FunctionType) and _is_of_the_program(callee):
            return self._part(("callee", id(callee)), lambda: self._optimized(callee))
        forward = type(callee).forward if isinstance(callee, Module) else None
        if isinstance(forward, FunctionType) and _is_of_the_program(forward):
            return self._part(("callee", id(callee)), lambda: calling(callee, self._optimized))
        return callee

    def _optimized(self, fn: FunctionType) -> Callable[..., Any]:
        run = Optimized(fn, self.of, is_part=True)

        @wraps(fn)
        def compiled(*args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs)

        return compiled


class Resume:
    """The rest of a function after an instruction: a function that is compiled as others are."""

    def __init__(self, place: Place, before: Optimized) -> None:
        self.code = resume_code(place)
        self.names = before.fn.__globals__
        cells = tuple(map(_empty_cell, self.code.co_freevars))
        self.optimized = Optimized(function_of(self.code, self.names, cells), before.of, is_part=True, is_rest=True)

    def call(self, values: list[Any], cells: tuple[Any, ...]) -> Any:
        """What the rest of the function returns."""
        fn = function_of(self.code, self.names, cells) if cells else self.optimized.fn
        arguments = dict(zip(self.code.co_varnames, values, strict=False))
        if cells:
            arguments[ITSELF] = fn
        return self.optimized.call(arguments, lambda: fn(*values))


@cache
def _say_that_python_is_unknown() -> None:
    version = ".".join(map(str, sys.version_info[:2]))
    warnings.warn(
        f"torch.compile reads the bytecode of Python {names_of_versions()}, and this is {version}: "
        "functions run as they are",
        stacklevel=5,
    )


def _place(code: CodeType) -> str:
    return f"{code.co_name} in {code.co_filename}:{code.co_firstlineno}"


def _empty_cell(name: str) -> CellType:
    return CellType()


def _is_of_the_program(fn: FunctionType) -> bool:
    """Whether a function is one that PyTorch would compile where it is called: none of a library's or of Python's."""
    code = fn.__code__
    if code.co_flags & GENERATOR or why_disabled(fn) is not None or is_of_a_library(fn):
        return False
    return not code.co_filename.startswith((STANDARD_LIBRARY, "<frozen ")) or "site-packages" in code.co_filename


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
    bind.__name__, bind.__qualname__ = fn.__name__, fn.__qualname__
    return bind


class _Name(NamedTuple):
    """A default value in the text of a signature: a name that leads to it."""

    text: str

    def __repr__(self) -> str:
        return self.text
