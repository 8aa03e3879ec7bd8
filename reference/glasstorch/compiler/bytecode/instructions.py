"""Which instructions is a function made of?

Mirrors: torch/_dynamo/bytecode_transformation.py
Differs: bytecode is read, not changed.
"""

from __future__ import annotations

import dis
import sys
from bisect import bisect_left
from functools import lru_cache
from types import CodeType
from typing import Any, Final, NamedTuple

VERSION: Final = (3, 11)


class Instruction(NamedTuple):
    """One instruction: its name, its argument, and for a jump the number of the instruction that it leads to."""

    name: str
    arg: int
    value: Any  # what the argument means: a constant, a name
    target: int
    line: int
    offset: int = -1  # in the function's bytecode


class Handler(NamedTuple):
    """Where an error leads: the number of an instruction, how many values stay on the stack, what is put on it."""

    target: int
    depth: int
    with_place: bool  # whether the place of the error is put on the stack too


def is_understood() -> bool:
    """Whether this interpreter's bytecode is the one that is understood here."""
    return sys.version_info[:2] == VERSION


@lru_cache(maxsize=1024)
def instructions_of(code: CodeType) -> tuple[Instruction, ...]:
    """The instructions of a function, in order; caches and prefixes are left out."""
    found = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG", "NOP")]
    number_of = {}
    number = len(found)
    for instruction in reversed(list(dis.get_instructions(code))):
        if instruction.opname not in ("CACHE", "EXTENDED_ARG", "NOP"):
            number -= 1
        number_of[instruction.offset] = number
    line = code.co_firstlineno
    made = []
    for i in found:
        line = i.starts_line or line
        is_jump = i.opcode in dis.hasjrel or i.opcode in dis.hasjabs
        made.append(Instruction(i.opname, i.arg or 0, i.argval, number_of[i.argval] if is_jump else -1, line, i.offset))
    return tuple(made)


@lru_cache(maxsize=1024)
def handlers_of(code: CodeType) -> tuple[Handler | None, ...]:
    """For each instruction, where an error in it leads, or None if it leaves the function."""
    instructions = instructions_of(code)
    offsets = [i.offset for i in instructions]
    found: list[Handler | None] = [None] * len(instructions)
    for start, end, target, depth, with_place in dis._parse_exception_table(code):  # type: ignore[attr-defined]
        handler = Handler(bisect_left(offsets, target), depth, with_place)
        for number in range(bisect_left(offsets, start), bisect_left(offsets, end)):
            found[number] = handler
    return tuple(found)
