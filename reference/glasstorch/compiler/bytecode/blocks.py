"""Which `with` blocks is a function in where its graph ends, and how are they entered again after it?

A graph ends its blocks with itself. What runs as it is runs in new blocks of the same modes, and the rest of the
function begins by entering them once more; what the program then does at the end of a block ends these.

Mirrors: torch/_dynamo/resume_execution.py (ReenterWith), torch/_dynamo/symbolic_convert.py (BlockStackEntry)
Differs: a block whose mode would be another one when it is entered again, since the program has set one inside, is not
    cut; PyTorch loses the mode that was set. The class of a mode is a constant of the rest, which PyTorch guards.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from typing import Any, NamedTuple

from glasstorch.amp.autocast_mode import autocast
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.compiler.bytecode.contexts import context_method
from glasstorch.compiler.bytecode.frame_base import FrameBase
from glasstorch.compiler.bytecode.instructions import handlers_of, instructions_of
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Context, Known, Method, Value

HANDLER = ("PUSH_EXC_INFO", "WITH_EXCEPT_START")  # how the code begins that an error in a `with` block leads to


class Block(NamedTuple):
    """A mode of the library that a `with` block sets: its class, and the arguments that make another one like it."""

    kind: type[Any]
    arguments: tuple[Any, ...]


def block_of(context: Context) -> Block:
    """What makes another context that sets the same mode.

    >>> from glasstorch import no_grad
    >>> block_of(Context(no_grad, (False,))).arguments
    ()
    """
    if context.kind is autocast:
        return Block(context.kind, context.settings)
    has_argument = context.kind.__name__ in ("set_grad_enabled", "inference_mode")
    return Block(context.kind, context.settings[:1] if has_argument else ())


def can_be_entered_again(frame: FrameBase) -> bool:
    """Whether errors of the instruction that a frame is at lead only out of `with` blocks that can be cut in two."""
    words, handlers = instructions_of(frame.code), handlers_of(frame.code)
    handler = handlers[frame.at]
    while handler is not None:
        start = words[handler.target : handler.target + len(HANDLER)]
        if tuple(word.name for word in start) != HANDLER or not _can_be_cut(frame.stack[handler.depth - 1]):
            return False
        after = handlers[handler.target]  # what puts back the error that was handled before
        handler = None if after is None else handlers[after.target]
    return True


def _can_be_cut(leave: Value) -> bool:
    """Whether a block is one of a mode of the library, or of `nullcontext`, by what is called at its end."""
    owner = leave.owner if isinstance(leave, Method) else None
    return isinstance(owner, Context) or (isinstance(owner, Known) and type(owner.value) is nullcontext)


def block_left_by(value: Value) -> Block | None:
    """The block that a value on the stack ends when it is called; None if it is no end of a block."""
    if isinstance(value, Method) and isinstance(value.owner, Context) and value.function == "__exit__":
        return block_of(value.owner)
    return None


def end_blocks(recorder: Recorder, left: list[Block]) -> None:
    """End the blocks that are open, innermost first; Unsupported unless they are those that are entered again."""
    contexts = list(recorder.open_contexts)
    recorder.cut_contexts = contexts
    if [block_of(context) for context in contexts] != left:
        raise Unsupported("a mode of the library that is set elsewhere than by a `with` block of this function")
    modes = [is_grad_enabled()]
    for context in reversed(contexts):
        context_method(recorder, context, "__exit__")
        modes.append(is_grad_enabled())
    again = [is_grad_enabled()]
    for count in range(1, len(left) + 1):
        with enter(left[:count]):
            again.append(is_grad_enabled())
    if again != modes[::-1]:
        raise Unsupported("a mode that was set inside of a `with` block that sets one")


def enter(blocks: list[Block]) -> ExitStack:
    """All these blocks, entered."""
    entered = ExitStack()
    for block in blocks:
        entered.enter_context(block.kind(*block.arguments))
    return entered
