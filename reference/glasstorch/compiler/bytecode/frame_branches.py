"""What do the instructions of loops and branches do?

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase)
"""

from __future__ import annotations

from typing import Final

from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.frame_base import FrameBase
from glasstorch.compiler.bytecode.instructions import Instruction
from glasstorch.compiler.bytecode.objects import advanced
from glasstorch.compiler.bytecode.operations import items_of, truth
from glasstorch.compiler.bytecode.raising import Raised, of_the_program
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Iterating,
    Known,
    Mapping,
    Sequence,
    Value,
    describe,
    known,
)

NONE: Final = Constant(None)
SEQUENCE, MAPPING = 1 << 5, 1 << 6  # flags of a class that says what patterns its objects match


def _has_flag(value: Value, flag: int) -> bool:
    return isinstance(value, Known | Constant) and bool(type(value.value).__flags__ & flag)


class Branches(FrameBase):
    """Instructions of loops and branches."""

    def _GET_ITER(self, i: Instruction) -> None:
        value = self.stack.pop()
        self.stack.append(value if isinstance(value, Iterating) else Iterating(items_of(self.recorder, value)))

    def _FOR_ITER(self, i: Instruction) -> None:
        iterator = self.stack[-1]
        with of_the_program():  # a dict that changes its size ends a loop
            items = iterator.items if isinstance(iterator, Iterating) else advanced(self.recorder, iterator)
            first = next(items, None)
        if first is None:
            self.stack.pop()
            self.next = i.target
        else:
            self.stack.append(first)

    def _JUMP(self, i: Instruction) -> None:
        self.next = i.target

    def _jump_if(self, i: Instruction, wanted: bool) -> None:
        if truth(self.recorder, self.stack.pop()) is wanted:
            self.next = i.target

    def _POP_JUMP_IF_TRUE(self, i: Instruction) -> None:
        self._jump_if(i, True)

    def _POP_JUMP_IF_FALSE(self, i: Instruction) -> None:
        self._jump_if(i, False)

    def _is_none(self, value: Value) -> bool:
        return isinstance(value, Constant) and value.value is None

    def _POP_JUMP_IF_NONE(self, i: Instruction) -> None:
        if self._is_none(self.stack.pop()):
            self.next = i.target

    def _POP_JUMP_IF_NOT_NONE(self, i: Instruction) -> None:
        if not self._is_none(self.stack.pop()):
            self.next = i.target

    def _jump_or_pop(self, i: Instruction, wanted: bool) -> None:
        if truth(self.recorder, self.stack[-1]) is wanted:
            self.next = i.target
        else:
            self.stack.pop()

    def _JUMP_IF_TRUE_OR_POP(self, i: Instruction) -> None:
        self._jump_or_pop(i, True)

    def _JUMP_IF_FALSE_OR_POP(self, i: Instruction) -> None:
        self._jump_or_pop(i, False)

    # Patterns of `match` -----------------------------------------------------------------------------------------

    def _GET_LEN(self, i: Instruction) -> None:
        self.stack.append(self.caller.call(Known(len), [self.stack[-1]], {}))

    def _MATCH_SEQUENCE(self, i: Instruction) -> None:
        value = self.stack[-1]
        self.stack.append(Constant(isinstance(value, Sequence) or _has_flag(value, SEQUENCE)))

    def _MATCH_MAPPING(self, i: Instruction) -> None:
        value = self.stack[-1]
        self.stack.append(Constant(isinstance(value, Mapping) or _has_flag(value, MAPPING)))

    def _MATCH_KEYS(self, i: Instruction) -> None:
        value, keys = self.stack[-2], known(self.stack[-1])
        if not isinstance(value, Mapping):
            raise Unsupported(f"a pattern of keys for {describe(value)}")
        found = all(key in value.items for key in keys)
        self.stack.append(Sequence([value.items[key] for key in keys], tuple) if found else NONE)

    def _MATCH_CLASS(self, i: Instruction) -> None:
        value, kind, names = self._pop(3)
        matched = known(self.caller.call(Known(isinstance), [value, kind], {}))
        parts = names.items if isinstance(names, Sequence) else []
        fields = [known(name) for name in parts]
        if matched and i.arg:
            own = getattr(known(kind), "__match_args__", None)
            if own is None or len(own) < i.arg:
                raise Unsupported(f"a pattern with places for {describe(kind)}")
            fields = [*own[: i.arg], *fields]
        self.stack.append(self._fields(value, fields) if matched else NONE)

    def _fields(self, value: Value, names: list[str]) -> Value:
        """The attributes of a value that a pattern asks for, or None if one is missing."""
        found = []
        for name in names:
            try:
                found.append(attribute(self.recorder, value, name))
            except Raised as raised:
                if not isinstance(raised.error, AttributeError):
                    raise
                return NONE
        return Sequence(found, tuple)
