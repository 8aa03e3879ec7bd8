"""Which instructions is a function made of?

Mirrors: torch/_dynamo/bytecode_transformation.py
Differs: bytecode is read, not changed.
"""

from __future__ import annotations

import dis
import sys
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
        made.append(Instruction(i.opname, i.arg or 0, i.argval, number_of[i.argval] if is_jump else -1, line))
    return tuple(made)
