"""How is one call of a function captured as a graph with its guards?

Mirrors: torch/_dynamo/convert_frame.py (compile_frame)
Differs: a function is captured as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from glasstorch.compiler.bytecode.calls import Caller
from glasstorch.compiler.bytecode.contexts import leave_all
from glasstorch.compiler.bytecode.frame import Frame
from glasstorch.compiler.bytecode.instructions import VERSION, is_understood
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.rebuild import Replay, replaying
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Known, Mapping, Sequence
from glasstorch.compiler.bytecode.wrapping import wrap
from glasstorch.compiler.guards import Guards
from glasstorch.fx.graph_module import GraphModule
from glasstorch.nn.modules.module import Module

GENERATOR = 0x20 | 0x80 | 0x200


class Captured(NamedTuple):
    """A graph, when it holds, the sources of its inputs, and how its results become the function's."""

    module: GraphModule
    guards: Guards
    inputs: list[str]
    replay: Replay


def capture(fn: FunctionType, arguments: dict[str, Any]) -> Captured:
    """Execute a function symbolically on its arguments, given by name; Unsupported where that cannot be done.

    Nothing of the outside is changed. An error that the function would raise is raised.
    """
    if not is_understood():
        raise Unsupported(f"the bytecode of this Python, which is not {VERSION[0]}.{VERSION[1]}")
    if fn.__code__.co_flags & GENERATOR:
        raise Unsupported(f"{fn.__name__}, which is a generator")
    recorder = Recorder(fn.__globals__)
    itself = Known(fn, source=Source(recorder.guards.name_of(fn)))
    function = Caller(recorder, _refuse).function_of(itself, fn)
    variables = {name: _argument(recorder, name, value, fn) for name, value in arguments.items()}
    frame = Frame(recorder, function, variables, True)
    try:
        result = frame.run()
        replay = replaying(recorder, [result])
    except Raised as raised:
        raise raised.error from raised
    finally:
        leave_all(recorder)
    inputs = {value.proxy.node: value.source for value in recorder.inputs.values()}
    recorder.finish(replay.results)
    left = recorder.graph.find_nodes(op="placeholder")
    expressions = [source.expression for node in left if (source := inputs[node]) is not None]
    return Captured(GraphModule(Module(), recorder.graph), recorder.guards, expressions, replay)


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


Backend = Callable[[GraphModule, list[Any]], Callable[..., Any]]
