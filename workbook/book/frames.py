"""Which instructions were executed symbolically when a function was captured, and what did each leave on the stack?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from workbook.book.altering import altered

NOTHING = ("RESUME", "PRECALL", "NOP")  # instructions that have no effect while a function is captured


class Step(NamedTuple):
    """An instruction, the stack after it, and the calls that it added to the graph; depth 1 is a function called."""

    depth: int
    name: str
    argument: str
    stack: tuple[str, ...]
    added: tuple[str, ...]

    def __str__(self) -> str:
        called = f"{'  ' * self.depth}{self.name} {self.argument}".rstrip()
        line = f"{called:24} [{', '.join(self.stack)}]"
        return f"{line:52} + {', '.join(self.added)}" if self.added else line


def steps_of(function: Callable[..., Any], *args: object) -> list[Step]:
    """The instructions that a capture of the function executes for these arguments, those of called functions too.

    `print(*steps_of(f, x), sep="\\n")` shows each with the stack that it leaves, the top on the right.
    """
    from glasstorch.compiler.bytecode import capture
    from glasstorch.compiler.bytecode import frame as frames

    steps: list[Step] = []

    class Watched(frames.Frame):
        def __getattribute__(self, name: str) -> Any:
            found = object.__getattribute__(self, name)
            if not name[1:].replace("_", "").isupper():
                return found

            def run(instruction: Any) -> None:
                graph, place = self.recorder.graph, len(steps)
                before = {*graph.nodes}
                found(instruction)
                new = [node for node in graph.nodes if node not in before and node.op != "placeholder"]
                added = tuple(node.name for node in new)
                inner = {name for step in steps[place:] for name in step.added}
                shown = tuple(map(short, self.stack))
                own = tuple(name for name in added if name not in inner)
                if instruction.name not in NOTHING:
                    steps.insert(place, Step(self.depth, instruction.name, argument_of(instruction), shown, own))

            return run

    with altered(frames, "Frame", Watched), altered(capture, "Frame", Watched):
        capture.capture(function, bound(function, args))  # type: ignore[arg-type]
    return steps


def bound(function: Callable[..., Any], args: tuple[object, ...]) -> dict[str, Any]:
    """The arguments by name, with the defaults of those that are not given."""
    call = inspect.signature(function).bind(*args)
    call.apply_defaults()
    return call.arguments


def argument_of(instruction: Any) -> str:
    """An instruction's argument as a reader would write it: a name, a constant, a number of items."""
    value = instruction.value
    if instruction.name == "BINARY_OP":
        from glasstorch.compiler.bytecode.frame_operators import BINARY

        return str(BINARY[instruction.arg].__name__)
    if value is None and instruction.name != "LOAD_CONST":
        return ""
    return value if isinstance(value, str) and instruction.name != "LOAD_CONST" else repr(value)


def short(value: Any) -> str:
    """What stands for an object on the stack, in a word: the name of a node, a constant, `items()` of something."""
    from glasstorch.compiler.bytecode import values
    from glasstorch.compiler.bytecode.frame_base import NULL

    if value is NULL:
        return "NULL"
    if isinstance(value, values.TensorValue):
        return str(value.proxy.node.name)
    if isinstance(value, values.Constant):
        return repr(value.value)
    if isinstance(value, values.Sequence):
        inside = ", ".join(map(short, value.items))
        return f"[{inside}]" if value.kind is list else f"({inside})"
    if isinstance(value, values.Mapping):
        return f"{{{', '.join(map(repr, value.items))}}}"
    if isinstance(value, values.Method):
        name = value.function if isinstance(value.function, str) else short(value.function)
        return f"{short(value.owner)}.{name}"
    if isinstance(value, values.Function):
        return value.code.co_name
    if isinstance(value, values.Known):
        return str(getattr(value.value, "__name__", type(value.value).__name__))
    return "an iterator" if isinstance(value, values.Iterating) else type(value).__name__.lower()
