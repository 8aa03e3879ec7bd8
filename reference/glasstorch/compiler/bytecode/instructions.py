"""Which instructions is a function made of?

Mirrors: torch/_dynamo/bytecode_transformation.py
Differs: bytecode is read, not changed, and read in the words of vocabulary.py.
"""

from __future__ import annotations

import dis
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from glasstorch.compiler.bytecode.vocabulary import (
    JOINED,
    ROWS,
    STOPITERATION_ERROR,
    UNDERSTOOD,
    Word,
    words_of,
)

FILLING = ("CACHE", "EXTENDED_ARG", "NOP")  # not counted


class Instruction(NamedTuple):
    """One word of a function: its name, its argument, and for a jump the number of the word that it leads to."""

    name: str
    arg: int
    value: Any  # what the argument means: a constant, a name, for CALL the names of its last arguments
    target: int
    line: int
    offset: int = -1  # in the function's bytecode
    # Which instructions of the bytecode it stands for, counted without those that only fill. The second word of an
    # instruction that is read as two stands for none.
    first: int = -1
    last: int = -1


class Handler(NamedTuple):
    """Where an error leads: the number of a word, how many values stay on the stack, what is put on it."""

    target: int
    depth: int
    with_place: bool  # whether the place of the error is put on the stack too


def is_understood() -> bool:
    """Whether this interpreter's bytecode is one that is understood here."""
    return UNDERSTOOD


@lru_cache(maxsize=1024)
def instructions_of(code: CodeType) -> tuple[Instruction, ...]:
    """The words of a function, in order."""
    made: list[Instruction] = []
    jumps: list[tuple[int, int]] = []  # the number of a word, and the offset that it leads to
    number_of: dict[int, int] = {}  # the word at which to go on, by offset
    line, place = code.co_firstlineno, 0
    for group in _groups(code):
        number_of.update((i.offset, len(made)) for i in group)
        counted = [i for i in group if i.opname not in FILLING]
        if not counted:
            continue
        raw, first, place = group[-1], place, place + len(counted)
        line = (raw.positions.lineno if raw.positions else None) or line
        if raw.opcode in dis.hasjrel or raw.opcode in dis.hasjabs:
            jumps.append((len(made), raw.argval))
        for word in _read(code, counted):
            made.append(Instruction(*word, -1, line, raw.offset, first, place - 1))
            first = place
    for number, offset in jumps:
        made[number] = made[number]._replace(target=number_of[offset])
    return tuple(made)


def _groups(code: CodeType) -> Iterator[list[dis.Instruction]]:
    """The instructions of a function, those together that are read as one."""
    group: list[dis.Instruction] = []
    following = (i.opname for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG")
    after = next(following)
    for i in dis.get_instructions(code):
        group.append(i)
        if i.opname != "EXTENDED_ARG":
            after = next(following, "")
        names = i.opname == "LOAD_CONST" and after == "CALL_KW"  # of the last arguments of a call
        if i.opname != "EXTENDED_ARG" and ROWS.get(i.opname) != JOINED and not names:
            yield group
            group = []


def _read(code: CodeType, group: list[dis.Instruction]) -> list[Word]:
    """The words as which instructions that belong together are read."""
    *before, last = group
    if last.opname in ("CALL", "CALL_KW") and before and before[0].opname != "PRECALL":
        names = code.co_consts[before[0].arg or 0]
        return [Word("CALL_KW", last.arg or 0, names)]
    if before and before[0].opname == "END_FOR":
        return []
    return words_of(ROWS, last.opname, last.arg or 0, last.argval)


@lru_cache(maxsize=1024)
def handlers_of(code: CodeType) -> tuple[Handler | None, ...]:
    """For each word, where an error in it leads, or None if it leaves the function.

    What a generator has of itself, for StopIteration and for errors that are thrown into it, does not count.
    """
    instructions = instructions_of(code)
    offsets = [i.offset for i in instructions]
    found: list[Handler | None] = [None] * len(instructions)
    for start, end, target, depth, with_place in dis._parse_exception_table(code):  # type: ignore[attr-defined]
        handler = Handler(bisect_left(offsets, target), depth, with_place)
        if _is_of_a_generator(instructions[handler.target]):
            continue
        for number in range(bisect_left(offsets, start), bisect_left(offsets, end)):
            found[number] = handler
    return tuple(found)


def _is_of_a_generator(word: Instruction) -> bool:
    return word.name == "CLEANUP_THROW" or (word.name == "CALL_INTRINSIC_1" and word.arg == STOPITERATION_ERROR)
