"""What do the instructions of `try`, `raise` and `with` do, and where does an error lead?

Mirrors: torch/_dynamo/symbolic_convert.py (exception_handler)
Differs: an error that an operator on tensors raises is never handled here. A function in which that happens runs as it
    is, also where its graph raises the error in a later call.
"""

from __future__ import annotations

from glasstorch.compiler.bytecode.frame_base import FrameBase
from glasstorch.compiler.bytecode.instructions import Instruction, handlers_of
from glasstorch.compiler.bytecode.objects import instantiate, special
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Known, Traceback, Value, describe, known
from glasstorch.compiler.bytecode.wrapping import made

NONE = Constant(None)


def error_value(recorder: Recorder, raised: Raised) -> Known:
    """The value of an error that the program has raised."""
    if raised.value is None:
        error = raised.error
        raised.value = recorder.effects.make(type(error), error)
        items = recorder.effects.attributes_of(raised.value).items
        items["args"] = made(error.args)
        if isinstance(error, StopIteration):
            items["value"] = made(error.value)
    return raised.value


def raised_by(recorder: Recorder, value: Value, cause: Value | None = None) -> Raised:
    """What `raise` of a value raises."""
    if isinstance(value, Known) and isinstance(value.value, type) and issubclass(value.value, BaseException):
        value = instantiate(recorder, value.value, [], {})
    if not isinstance(value, Known) or not isinstance(value.value, BaseException):
        raise Raised(TypeError("exceptions must derive from BaseException"))
    if not recorder.effects.is_new(value):
        raise Unsupported(f"{describe(value)}, which was made outside, is raised")
    if cause is not None:
        recorder.effects.attributes_of(value).items["__cause__"] = cause
    recorder.effects.raised.add(id(value.value))
    return Raised(value.value, value)


class Errors(FrameBase):
    """Instructions of errors and of `with`."""

    @property
    def is_in_a_handled_block(self) -> bool:
        """Whether an error of the instruction that is executed would be handled here."""
        return handlers_of(self.code)[self.at] is not None

    def handles(self, raised: Raised, number: int) -> bool:
        """Go on where an error of an instruction leads; False if it leaves the function."""
        handler = handlers_of(self.code)[number]
        if handler is None:
            return False
        value = error_value(self.recorder, raised)
        self.recorder.effects.raised.add(id(value.value))
        del self.stack[handler.depth :]
        if handler.with_place:
            self.stack.append(Constant(number))
        self.stack.append(value)
        self.next = handler.target
        return True

    def current_error(self) -> Value | None:
        """The error that this function, or the one that called it, is handling."""
        return next((frame.handled for frame in reversed(self.recorder.frames) if frame.handled is not None), None)

    def _PUSH_EXC_INFO(self, i: Instruction) -> None:
        error = self.stack.pop()
        self.stack += [NONE if self.handled is None else self.handled, error]
        self.handled = error

    def _POP_EXCEPT(self, i: Instruction) -> None:
        before = self.stack.pop()
        self.handled = None if before is NONE else before

    def _CHECK_EXC_MATCH(self, i: Instruction) -> None:
        kinds = known(self.stack.pop())
        error = self.stack[-1]
        assert isinstance(error, Known)
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if not isinstance(kind, type) or not issubclass(kind, BaseException):
                text = "catching classes that do not inherit from BaseException is not allowed"
                raise Raised(TypeError(text))
        self.stack.append(Constant(isinstance(error.value, kinds)))

    def _RAISE_VARARGS(self, i: Instruction) -> None:
        if i.arg == 0:
            error = self.current_error()
            if error is None:
                raise Raised(RuntimeError("No active exception to reraise"))
            raise raised_by(self.recorder, error)
        value, *cause = self._pop(i.arg)
        raise raised_by(self.recorder, value, *cause)

    def _RERAISE(self, i: Instruction) -> None:
        raise raised_by(self.recorder, self.stack.pop())

    def _LOAD_ASSERTION_ERROR(self, i: Instruction) -> None:
        self.stack.append(Known(AssertionError))

    def _BEFORE_WITH(self, i: Instruction) -> None:
        manager = self.stack.pop()
        enter, leave = special(self.recorder, manager, "__enter__"), special(self.recorder, manager, "__exit__")
        if enter is None or leave is None:
            raise Raised(TypeError(f"{describe(manager)} object does not support the context manager protocol"))
        self.stack.append(leave)
        self.stack.append(self.caller.call(enter, [], {}))

    def _WITH_EXCEPT_START(self, i: Instruction) -> None:
        leave, error = self.stack[-4], self.stack[-1]
        assert isinstance(error, Known)
        self.stack.append(self.caller.call(leave, [Known(type(error.value)), error, Traceback()], {}))


__all__ = ["Errors", "error_value", "raised_by"]
