"""What do the instructions do that make containers and take them apart?

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase)
"""

from __future__ import annotations

import itertools
from typing import Any

from glasstorch.compiler.bytecode.frame_base import FrameBase
from glasstorch.compiler.bytecode.instructions import Instruction
from glasstorch.compiler.bytecode.objects import is_users
from glasstorch.compiler.bytecode.operations import items_of, slice_of, text_of
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Group,
    Mapping,
    Sequence,
    as_key,
    describe,
    known,
)


class Containers(FrameBase):
    """Instructions on containers."""

    def _BUILD_TUPLE(self, i: Instruction) -> None:
        self.stack.append(Sequence(self._pop(i.arg), tuple))

    def _BUILD_LIST(self, i: Instruction) -> None:
        self.stack.append(Sequence(self._pop(i.arg), list))

    def _BUILD_SET(self, i: Instruction) -> None:
        items = map(as_key, self._pop(i.arg))
        self.stack.append(Group(evaluated(set, items)))

    def _SET_ADD(self, i: Instruction) -> None:
        item = as_key(self.stack.pop())
        evaluated(self._container(i.arg).items.add, item)

    def _SET_UPDATE(self, i: Instruction) -> None:
        items = [as_key(item) for item in items_of(self.recorder, self.stack.pop())]
        evaluated(self._container(i.arg).items.update, items)

    def _BUILD_MAP(self, i: Instruction) -> None:
        items = self._pop(2 * i.arg)
        keys = map(as_key, items[::2])
        self.stack.append(Mapping(evaluated(dict, zip(keys, items[1::2], strict=True))))

    def _BUILD_CONST_KEY_MAP(self, i: Instruction) -> None:
        keys = known(self.stack.pop())
        self.stack.append(Mapping(dict(zip(keys, self._pop(i.arg), strict=True))))

    def _BUILD_SLICE(self, i: Instruction) -> None:
        self.stack.append(slice_of(self._pop(i.arg)))

    def _CONVERT_VALUE(self, i: Instruction) -> None:
        self._FORMAT_VALUE(i._replace(arg=i.arg & 3))

    def _BUILD_STRING(self, i: Instruction) -> None:
        self.stack.append(Constant("".join(map(known, self._pop(i.arg)))))

    def _FORMAT_VALUE(self, i: Instruction) -> None:
        spec = known(self.stack.pop()) if i.arg & 4 else ""
        value = self.stack.pop()
        if i.arg & 3 in (1, 2) or is_users(value):
            value = Constant(text_of(self.recorder, value, "__repr__" if i.arg & 3 == 2 else "__str__"))
        obj = ascii(known(value)) if i.arg & 3 == 3 else known(value)
        self.stack.append(Constant(evaluated(format, obj, spec)))

    def _LIST_APPEND(self, i: Instruction) -> None:
        item = self.stack.pop()
        self._container(i.arg).items.append(item)

    def _LIST_EXTEND(self, i: Instruction) -> None:
        items = self.stack.pop()
        self._container(i.arg).items.extend(items_of(self.recorder, items))

    def _LIST_TO_TUPLE(self, i: Instruction) -> None:
        self.stack.append(Sequence(list(items_of(self.recorder, self.stack.pop())), tuple))

    def _MAP_ADD(self, i: Instruction) -> None:
        key, item = self._pop(2)
        self._container(i.arg).items[as_key(key)] = item

    def _DICT_UPDATE(self, i: Instruction) -> None:
        other = self.stack.pop()
        if not isinstance(other, Mapping):
            raise Unsupported(f"** of {describe(other)}")
        self._container(i.arg).items.update(other.items)

    def _DICT_MERGE(self, i: Instruction) -> None:
        other = self.stack[-1]
        into = self._container(i.arg + 1).items
        if isinstance(other, Mapping) and (twice := [key for key in other.items if key in into]):
            raise Unsupported(f"two arguments named {twice[0]}")
        self._DICT_UPDATE(i)

    def _container(self, depth: int) -> Any:
        return self.stack[-depth]

    def _UNPACK_SEQUENCE(self, i: Instruction) -> None:
        value = self.stack.pop()
        items = list(itertools.islice(items_of(self.recorder, value), i.arg + 1))
        if len(items) != i.arg:
            few = "not enough" if len(items) < i.arg else "too many"
            got = f", got {len(items)}" if len(items) < i.arg else ""
            raise Raised(ValueError(f"{few} values to unpack (expected {i.arg}{got})"))
        self.stack += reversed(items)

    def _UNPACK_EX(self, i: Instruction) -> None:
        """Replace what is on top of the stack by its items, as `first, *rest, last = items` takes them apart.

        The low byte of the argument says how many come before the star, the next one how many after it; the list of
        those in between may be empty. The first item ends on top. ValueError, as Python's, if there are too few.
        """
        items = list(items_of(self.recorder, self.stack.pop()))
        before, after = i.arg & 0xFF, i.arg >> 8
        if len(items) < before + after:
            text = f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
            raise Raised(ValueError(text))
        middle = Sequence(items[before : len(items) - after], list)
        self.stack += reversed([*items[:before], middle, *items[len(items) - after :]])
