"""How is one call of a function captured as a graph with its guards?

Mirrors: torch/_dynamo/convert_frame.py (compile_frame)
Differs: where the graph ends early, the rest of the function is not part of the new code, but is called by `captured`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, NamedTuple

from glasstorch.compiler.bytecode.blocks import end_blocks
from glasstorch.compiler.bytecode.breaks import Rest, can_break, rest_of
from glasstorch.compiler.bytecode.calls import Caller
from glasstorch.compiler.bytecode.contexts import leave_all
from glasstorch.compiler.bytecode.frame import Frame
from glasstorch.compiler.bytecode.instructions import is_understood
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.rebuild import Replay, replaying
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Known, Mapping, Sequence, Value
from glasstorch.compiler.bytecode.vocabulary import names_of_versions
from glasstorch.compiler.bytecode.wrapping import wrap
from glasstorch.compiler.guards import Guards
from glasstorch.compiler.shapes import AllNumbers, Noted, Sizes
from glasstorch.compiler.watching import told
from glasstorch.fx.graph_module import GraphModule
from glasstorch.nn.modules.module import Module

GENERATOR = 0x20 | 0x80 | 0x200


class Captured(NamedTuple):
    """A graph, when it holds, the sources of its inputs, how its results become the function's, and what is left.

    Where the graph ended early, `rest` says what runs after it, and `why` for which reason.
    """

    module: GraphModule
    guards: Guards
    inputs: list[str]
    replay: Replay
    rest: Rest | None = None
    why: Unsupported | None = None
    sets_modes: bool = False
    # As it is, where the graph raises an error: the program handles it, or did something before.
    runs_again: bool = False


ITSELF: Final = "___function"  # the name under which the arguments hold a function that is new in each call


def capture(fn: FunctionType, arguments: dict[str, Any], *, whole: bool = True, sizes: Sizes | None = None) -> Captured:
    """Execute a function symbolically on its arguments, given by name; Unsupported where that cannot be done.

    Nothing of the outside is changed. An error that the function would raise is raised. Where the function need not be
    captured as a whole, the graph ends before an instruction that cannot be captured. `sizes` says which sizes and ints
    are symbols; a program that cannot be captured with them is captured for the numbers that they have.
    """
    if sizes is not None:
        noted = Noted(sizes)
        try:
            return _capture(fn, arguments, whole, noted)
        except Exception:
            if not noted.has_symbols or noted.is_required:
                raise
    return _capture(fn, arguments, whole, AllNumbers())


def _capture(fn: FunctionType, arguments: dict[str, Any], whole: bool, sizes: Sizes) -> Captured:
    if not is_understood():
        raise Unsupported(f"the bytecode of this Python, which is none of {names_of_versions()}")
    if fn.__code__.co_flags & GENERATOR:
        raise Unsupported(f"{fn.__name__}, which is a generator")
    frame = _frame(fn, arguments, sizes)
    try:
        return _captured(frame.recorder, [frame.run()])
    except Raised as raised:
        raise raised.error from raised
    except Unsupported as error:
        if whole or error.skips or frame.steps == 0 or not can_break(frame):
            raise
        reason = error
    finally:
        leave_all(frame.recorder)
    return _first_part(fn, arguments, frame, reason, sizes)


def _frame(fn: FunctionType, arguments: dict[str, Any], sizes: Sizes) -> Frame:
    told("begun", code=fn.__code__)
    recorder = Recorder(fn.__globals__, sizes)
    place = Source.local(ITSELF) if ITSELF in arguments else Source(recorder.guards.name_of(fn))
    function = Caller(recorder, _refuse).bound_function_of(place, arguments.get(ITSELF, fn))
    given = {name: value for name, value in arguments.items() if name != ITSELF}
    return Frame(recorder, function, Arguments(given, lambda name, value: _argument(recorder, name, value, fn)), True)


class Arguments(dict[str, Value]):
    """The variables of a function; an argument becomes a value, and is guarded, when it is first used."""

    def __init__(self, given: dict[str, Any], wrapped: Callable[[str, Any], Value]) -> None:
        super().__init__()
        self.unused = given
        self.wrapped = wrapped

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.unused

    def __missing__(self, name: str) -> Value:
        value = self[name] = self.wrapped(name, self.unused[name])
        return value

    def __setitem__(self, name: str, value: Value) -> None:
        self.unused.pop(name, None)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        if self.unused.pop(name, self) is self:
            super().__delitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a variable, or the default if it has none."""
        if name in self:
            return self[name]
        return default

    def passed_on(self, name: str) -> Value:
        """The value of a variable that is only passed on: of an argument that is not used yet nothing is assumed."""
        return Known(self.unused[name], source=Source.local(name)) if name in self.unused else self[name]


def _first_part(
    fn: FunctionType, arguments: dict[str, Any], failed: Frame, error: Unsupported, sizes: Sizes
) -> Captured:
    """Execute the function again, up to the instruction at which that failed."""
    frame = _frame(fn, arguments, sizes)
    frame.stop_at = failed.steps - 1
    try:
        frame.run()
        assert frame.next == failed.at, "a function takes the same way when it is executed again"
        rest, values = rest_of(frame)
        end_blocks(frame.recorder, rest.blocks)
        return _captured(frame.recorder, values, rest, error)
    except Unsupported:  # something that the rest needs cannot be made
        raise error from None
    finally:
        leave_all(frame.recorder)


def _captured(
    recorder: Recorder, values: list[Value], rest: Rest | None = None, why: Unsupported | None = None
) -> Captured:
    replay = replaying(recorder, values)
    sources = {value.proxy.node: value.source for value in recorder.inputs.values() if value.source is not None}
    inputs = {node: source.expression for node, source in sources.items()}
    inputs |= {} if recorder.symbols is None else recorder.symbols.inputs
    recorder.finish(replay.results)
    left = recorder.graph.find_nodes(op="placeholder")
    expressions = [inputs[node] for node in left if node in inputs]
    runs_again = not recorder.writes and (recorder.is_handled or not recorder.effects.is_empty)
    module = GraphModule(Module(), recorder.graph)
    return Captured(
        module, recorder.guards, expressions, replay, rest, why, sets_modes=recorder.sets_modes, runs_again=runs_again
    )


def _argument(recorder: Recorder, name: str, value: Any, fn: FunctionType) -> Any:
    """An argument as a value; the tuple and dict of `*args` and `**kwargs` are new in each call."""
    found = wrap(recorder, value, Source.local(name))
    code = fn.__code__
    stars = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    if name in stars and isinstance(found, Sequence | Mapping):
        found.source = None
    return found


def _refuse(*unused: Any) -> Any:
    raise AssertionError("nothing is called before the function runs")
