"""Which variables does the rest of a function still read, and can it be cut in two here?

Mirrors: torch/_dynamo/bytecode_analysis.py (livevars_analysis), torch/_dynamo/symbolic_convert.py (maybe_has_backedge)
Differs: a variable is live if some way from the instruction reads it before it is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Final

from glasstorch.compiler.bytecode.instructions import Instruction, handlers_of, instructions_of

READS: Final = ("LOAD_FAST", "LOAD_FAST_AND_CLEAR", "DELETE_FAST")
ENDS: Final = ("RETURN_VALUE", "RAISE_VARARGS", "RERAISE")


@lru_cache(maxsize=1024)
def live(code: CodeType, start: int) -> tuple[str, ...]:
    """The local variables that are read from an instruction on, in the order in which the function lists them."""
    found = {name for name in code.co_varnames if _is_read(code, start, name)}
    return tuple(name for name in code.co_varnames if name in found)


def _is_read(code: CodeType, start: int, name: str) -> bool:
    instructions, handlers = instructions_of(code), handlers_of(code)
    seen, left = set(), [start]
    while left:
        number = left.pop()
        if number in seen or number >= len(instructions):
            continue
        seen.add(number)
        instruction = instructions[number]
        handler = handlers[number]
        if handler is not None:
            left.append(handler.target)
        if instruction.value == name and instruction.name in READS:
            return True
        if instruction.value == name and instruction.name == "STORE_FAST":
            continue
        left += _after(instruction, number)
    return False


def _after(instruction: Instruction, number: int) -> Iterator[int]:
    """The instructions that may run next."""
    if instruction.target >= 0:
        yield instruction.target
    if instruction.name not in (*ENDS, "JUMP"):
        yield number + 1


def is_in_a_loop(code: CodeType, number: int) -> bool:
    """Whether an instruction seems to be in a loop: one after it, and before a return, jumps to one before it."""
    for instruction in instructions_of(code)[number + 1 :]:
        if instruction.name == "RETURN_VALUE":
            return False
        if 0 <= instruction.target < number:
            return True
    return False
