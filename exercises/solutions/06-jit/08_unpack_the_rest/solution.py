"""Cuts the items into three parts and pushes them from the last to the first."""

from glasstorch.compiler.bytecode.builtins import items_of
from glasstorch.compiler.bytecode.frame_base import FrameBase
from glasstorch.compiler.bytecode.instructions import Instruction
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.values import Sequence


def unpack_ex(self: FrameBase, i: Instruction) -> None:
    """Replace the value on top of the stack by its parts."""
    items = list(items_of(self.recorder, self.stack.pop()))
    before, after = i.arg & 0xFF, i.arg >> 8
    least = before + after
    if len(items) < least:
        raise Raised(ValueError(f"not enough values to unpack (expected at least {least}, got {len(items)})"))
    end = len(items) - after
    middle = Sequence(items[before:end], list)
    self.stack += reversed([*items[:before], middle, *items[end:]])
