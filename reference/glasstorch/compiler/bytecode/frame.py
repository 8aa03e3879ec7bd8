"""How are the instructions of one function executed symbolically?

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase, InliningGeneratorInstructionTranslator)
Differs: Coroutines are refused. A branch on a tensor cannot be executed here: the graph ends before
    it.
"""

from __future__ import annotations

from typing import Final

from glasstorch.compiler.bytecode.calls import bind
from glasstorch.compiler.bytecode.frame_base import DEEPEST
from glasstorch.compiler.bytecode.frame_branches import Branches
from glasstorch.compiler.bytecode.frame_containers import Containers
from glasstorch.compiler.bytecode.frame_errors import Errors, error_value, raised_by
from glasstorch.compiler.bytecode.frame_names import Names
from glasstorch.compiler.bytecode.frame_operators import Operators
from glasstorch.compiler.bytecode.instructions import Instruction, handlers_of, instructions_of
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Function, Generator, Iterating, Value, describe
from glasstorch.compiler.watching import told, watchers

GENERATOR: Final = 0x20
COROUTINE: Final = 0x80 | 0x100 | 0x200
NONE: Final = Constant(None)
LEAVING: Final = ("RETURN_VALUE", "YIELD_VALUE")


class Frame(Names, Operators, Containers, Branches, Errors):
    """One function that is executed symbolically; a generator is one that goes on where it stopped."""

    started = finished = False

    def run(self) -> Value:
        """What the function returns, or a generator yields next; `finished` says which."""
        if self.depth >= DEEPEST:
            raise Unsupported(f"more than {DEEPEST} calls inside each other")
        self.recorder.frames.append(self)
        try:
            return self._execute()
        finally:
            self.recorder.frames.pop()

    def _execute(self) -> Value:
        instructions = instructions_of(self.code)
        while self.steps != self.stop_at:
            self.steps += 1
            self.at = number = self.next
            instruction = instructions[number]
            self.next += 1
            if watchers:
                told("step", frame=self, instruction=instruction)
            if instruction.name in LEAVING:
                self.finished = instruction.name == "RETURN_VALUE"
                return self.stack.pop()
            execute = getattr(self, f"_{instruction.name}", None)
            try:
                if execute is None:
                    raise Unsupported(f"the instruction {instruction.name}")
                execute(instruction)
            except Unsupported as error:
                where = f"{self.code.co_filename}:{instruction.line} in {self.code.co_name}"
                raise error.at(where) from error
            except Raised as raised:
                if not self.handles(raised, number):
                    self.finished = True
                    raise
        return NONE  # only the outermost function ends early

    def _inline(self, function: Function, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if function.code.co_flags & COROUTINE:
            raise Unsupported(f"{function.code.co_name}, which is a coroutine")
        variables = bind(function, args, kwargs)
        frame = Frame(self.recorder, function, variables, False, self.depth + 1)
        if not function.code.co_flags & GENERATOR:
            return frame.run()
        self.recorder.generators.append(frame)
        return Generator(_Items(frame), frame)

    # Generators --------------------------------------------------------------------------------------------------

    def send(self, value: Value) -> Value:
        """Go on with a generator; Raised of StopIteration at its end."""
        if self.finished:
            raise Raised(StopIteration())
        if self in self.recorder.frames:
            raise Raised(ValueError("generator already executing"))
        if not self.started and not (isinstance(value, Constant) and value.value is None):
            raise Raised(TypeError("can't send non-None value to a just-started generator"))
        if self.started:
            self.stack.append(value)
        self.started = True
        return self._advance()

    def throw(self, raised: Raised) -> Value:
        """Raise an error where a generator has stopped."""
        instructions = instructions_of(self.code)
        after = instructions[self.next]
        if self.started and not self.finished and after.name == "RESUME" and after.arg & 3 == 2:
            raise Unsupported("an error that is thrown into a generator that waits for another one")
        if self.finished or not self.started:
            self.finished = True
            raise raised
        self.recorder.frames.append(self)  # for the error that is handled
        try:
            caught = self.handles(raised, self.next - 1)
        finally:
            self.recorder.frames.pop()
        if not caught:
            self.finished = True
            raise raised
        return self._advance()

    def throw_values(self, args: list[Value]) -> Value:
        """Raise an error where a generator has stopped: an error, or its class, itself and its traceback."""
        given = [arg for arg in args[:2] if not (isinstance(arg, Constant) and arg.value is None)]
        return self.throw(raised_by(self.recorder, given[-1]))

    def close(self) -> None:
        """End a generator early."""
        if self.finished or not self.started:
            self.finished = True
            return
        try:
            self.throw(Raised(GeneratorExit()))
        except Raised as raised:
            if isinstance(raised.error, GeneratorExit | StopIteration):
                return
            raise
        raise Raised(RuntimeError("generator ignored GeneratorExit"))

    def _advance(self) -> Value:
        try:
            found = self.run()
        except Raised as raised:
            if isinstance(raised.error, StopIteration):
                made = Raised(RuntimeError("generator raised StopIteration"))
                value = error_value(self.recorder, made)
                self.recorder.effects.attributes_of(value).items["__cause__"] = error_value(self.recorder, raised)
                raise made from raised
            raise
        if not self.finished:
            return found
        stop = Raised(StopIteration())
        value = error_value(self.recorder, stop)
        is_none = isinstance(found, Constant) and found.value is None
        self.recorder.effects.attributes_of(value).items["value"] = found
        self.recorder.effects.set_args(value, [] if is_none else [found])
        raise stop

    def would_run_when_dropped(self) -> bool:
        """Whether a generator that is not at its end has something left to do when it is dropped."""
        return self.started and not self.finished and handlers_of(self.code)[self.next - 1] is not None

    def _RETURN_GENERATOR(self, i: Instruction) -> None:
        self.stack.append(NONE)  # what the first `next` sends

    def _GET_YIELD_FROM_ITER(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack.append(value if isinstance(value, Generator) else Iterating(self.recorder.items(value)))

    def _SEND(self, i: Instruction) -> None:
        value, receiver = self.stack.pop(), self.stack[-1]
        try:
            if isinstance(receiver, Generator):
                found = receiver.frame.send(value)
            elif isinstance(receiver, Iterating) and isinstance(value, Constant) and value.value is None:
                item = next(receiver.items, None)
                if item is None:
                    raise Raised(StopIteration())
                found = item
            else:
                raise Unsupported(f"a value is sent to {describe(receiver)}")
        except Raised as raised:
            if not isinstance(raised.error, StopIteration):
                raise
            error = error_value(self.recorder, raised)
            self.stack.pop()
            self.stack.append(self.recorder.effects.attributes_of(error).items["value"] or NONE)
            self.next = i.target
            return
        self.stack.append(found)


class _Items:
    """What a generator yields, for a loop over it."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def __iter__(self) -> _Items:
        return self

    def __next__(self) -> Value:
        if self.frame.finished:
            raise StopIteration
        try:
            return self.frame.send(NONE)
        except Raised as raised:
            if isinstance(raised.error, StopIteration) and self.frame.finished:
                raise StopIteration from raised
            raise


__all__ = ["Frame"]
