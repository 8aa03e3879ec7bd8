"""What is the state of one function that is executed symbolically?

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase)
"""

from __future__ import annotations

from typing import Final

from glasstorch.compiler.bytecode.calls import Caller
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Cell, Constant, Function, Value
from glasstorch.compiler.bytecode.vocabulary import NULL_IS_BELOW

DEEPEST: Final = 100  # calls inside calls
NULL: Final = Constant(None)  # what PUSH_NULL pushes: told from others by identity


class FrameBase:
    """The variables of a function, its stack, the instruction that is next, and the error that it is handling."""

    def __init__(
        self, recorder: Recorder, function: Function, variables: dict[str, Value], outermost: bool, depth: int = 0
    ) -> None:
        self.recorder = recorder
        self.function = function
        self.code = function.code
        self.variables = variables
        self.outermost = outermost  # whether its globals are those that guards can look into
        self.depth = depth
        self.cells: dict[str, Cell] = {}
        self.stack: list[Value] = []
        self.next = 0
        self.at = 0  # the number of the instruction that runs
        self.steps = 0  # how many were begun
        self.stop_at = -1  # the number of the step before which the execution ends
        self.handled: Value | None = None
        self.caller = Caller(recorder, self._inline)

    def _inline(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise Unsupported("a call")

    def _with_null(self, called: Value) -> list[Value]:
        """What is called, beside the empty place for a method's object."""
        return [NULL, called] if NULL_IS_BELOW else [called, NULL]

    def _pop(self, count: int) -> list[Value]:
        if not count:
            return []
        found = self.stack[-count:]
        del self.stack[-count:]
        return found
