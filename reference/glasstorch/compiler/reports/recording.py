"""What is kept of a compilation, for a report of it?

Mirrors: torch/_dynamo/utils.py (CompilationMetrics)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import Any, Final, NamedTuple

from glasstorch.compiler.reports.steps import shown_stack

MOST_STEPS: Final = 3000  # of one capture; further ones are counted


class Step(NamedTuple):
    """One instruction that was executed symbolically, and the stack before it."""

    depth: int
    code: CodeType
    line: int
    text: str
    stack: str


class Loops(NamedTuple):
    """What the library's own compiler made of one graph."""

    module: Any
    made_of: Any  # the graph in which patterns were not replaced yet
    lowered: Any
    order: list[Any]
    compiled: Any


@dataclass
class Part:
    """One function, or what follows a break in it, from its bytecode to its code."""

    code: CodeType
    steps: list[Step] = field(default_factory=list)
    steps_left_out: int = 0
    captured: Any = None
    joints: list[Any] = field(default_factory=list)
    forwards: list[Any] = field(default_factory=list)  # of graphs without gradients
    partitions: list[dict[str, Any]] = field(default_factory=list)
    loops: list[Loops] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    reasons: str = ""  # why an earlier graph of the function did not hold
    broken: Any = None  # why the graph ended early
    seconds: dict[str, float] = field(default_factory=dict)


class Recording:
    """A watcher that keeps what is compiled, in the order in which it was."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.given_up: list[Any] = []  # reasons for which functions ran as they are
        self.now: Part | None = None  # whose instructions are being executed

    def __call__(self, stage: str, facts: dict[str, Any]) -> None:
        getattr(self, f"_{stage}")(**facts)

    def _begun(self, code: CodeType) -> None:
        before = self.now
        self.now = Part(code)
        if before is not None and before.code is code:  # the first part is executed again
            self.now.seconds = before.seconds

    def _step(self, frame: Any, instruction: Any) -> None:
        if self.now is None:
            return
        if len(self.now.steps) == MOST_STEPS:
            self.now.steps_left_out += 1
            return
        argument = "" if instruction.value is None or repr(instruction.value) == "<unknown>" else instruction.value
        named = getattr(argument, "co_name", argument)
        text = f"{instruction.name} {str(named)[:60]}".rstrip()
        self.now.steps.append(Step(frame.depth, frame.code, instruction.line, text, shown_stack(frame.stack)))

    def _captured(self, by: Any, captured: Any) -> None:
        part = self.now or Part(by.fn.__code__)
        part.captured, self.now = captured, None
        if captured.why is not None and captured.rest is not None:
            part.broken = captured.why
        self.parts.append(part)

    def _broken(self, found: Any) -> None:
        if not found.graph_break:
            self.given_up.append(found)
            self.now = None

    def _recompiled(self, by: Any, reasons: str) -> None:
        self.last.reasons = reasons

    def _graph(self, module: Any) -> None:
        """The captured part has it."""

    def _joint(self, module: Any) -> None:
        self.last.joints.append(module)

    def _forward(self, module: Any) -> None:
        self.last.forwards.append(module)

    def _partition(self, **facts: Any) -> None:
        self.last.partitions.append(facts)

    def _loops(self, **facts: Any) -> None:
        self._part_of(facts["made_of"]).loops.append(Loops(**facts))

    def _hint(self, text: str, module: Any = None) -> None:
        self._part_of(module).hints.append(text)

    def _took(self, name: str, seconds: float) -> None:
        part = self.now or self.last
        part.seconds[name] = part.seconds.get(name, 0.0) + seconds

    @property
    def last(self) -> Part:
        """The part whose graph is being compiled; graphs that no capture has led to have one of their own."""
        if not self.parts:
            self.parts.append(Part(_NO_CODE))
        return self.parts[-1]

    def _part_of(self, module: Any) -> Part:
        """The part that a graph belongs to: a backward pass is compiled when others may have been captured since."""
        for part in self.parts:
            if any(module is cut["backward"] or module is cut["forward"] for cut in part.partitions):
                return part
        return self.last


_NO_CODE: Final = compile("", "<a graph without a function>", "exec")
