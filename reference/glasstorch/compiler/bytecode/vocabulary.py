"""In which words are the instructions of the supported versions of CPython read?

The capture knows one small vocabulary. Each row below says as which words one instruction is read; an instruction
without a row is a word itself. Words keep what an instruction takes from the stack and leaves on it, so a function can
be cut between any two instructions.

Mirrors: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase), torch/_dynamo/bytecode_transformation.py
Differs: PyTorch has a method for each instruction of each version, and asks for the version inside.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

SUPPORTED: Final = ((3, 11), (3, 12), (3, 13))


class Word(NamedTuple):
    """What the capture executes: a name, the instruction's number, and what the number means."""

    name: str
    arg: int
    value: Any


Row = str | Callable[[int], str]  # words, separated by blanks, or what gives them for an argument

NOTHING: Final = ""  # the instruction has no effect on a capture
JOINED: Final = "+"  # the instruction is a part of the next one

PAIRS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({  # on two variables
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
})  # fmt: skip

INTRINSICS: Final = {5: "UNARY_POSITIVE", 6: "LIST_TO_TUPLE"}  # by the argument of CALL_INTRINSIC_1

# What each version has that the one before it has not, or what it reads in another way.
CHANGES: Final[Mapping[tuple[int, int], Mapping[str, Row]]] = MappingProxyType({
    (3, 11): {
        "CACHE": NOTHING,
        "EXTENDED_ARG": NOTHING,
        "NOP": NOTHING,
        "KW_NAMES": JOINED,  # before CALL, which is read as CALL_KW then
        "PRECALL": JOINED,
        "JUMP_FORWARD": "JUMP",
        "JUMP_BACKWARD": "JUMP",
        "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
        "POP_JUMP_FORWARD_IF_TRUE": "POP_JUMP_IF_TRUE",
        "POP_JUMP_FORWARD_IF_FALSE": "POP_JUMP_IF_FALSE",
        "POP_JUMP_FORWARD_IF_NONE": "POP_JUMP_IF_NONE",
        "POP_JUMP_FORWARD_IF_NOT_NONE": "POP_JUMP_IF_NOT_NONE",
        "POP_JUMP_BACKWARD_IF_TRUE": "POP_JUMP_IF_TRUE",
        "POP_JUMP_BACKWARD_IF_FALSE": "POP_JUMP_IF_FALSE",
        "POP_JUMP_BACKWARD_IF_NONE": "POP_JUMP_IF_NONE",
        "POP_JUMP_BACKWARD_IF_NOT_NONE": "POP_JUMP_IF_NOT_NONE",
    },
    (3, 12): {
        # What a loop's iterator and what a generator waits for leave the stack already where the jump begins.
        "END_FOR": NOTHING,
        "END_SEND": NOTHING,
        "RETURN_CONST": "LOAD_CONST RETURN_VALUE",
        "LOAD_FAST_CHECK": "LOAD_FAST",  # the word looks whether the variable is set
        "LOAD_ATTR": lambda arg: "LOAD_METHOD" if arg & 1 else "LOAD_ATTR",
        "LOAD_SUPER_ATTR": lambda arg: "LOAD_SUPER_METHOD" if arg & 1 else "LOAD_SUPER_ATTR",
        "CALL_INTRINSIC_1": lambda arg: INTRINSICS.get(arg, "CALL_INTRINSIC_1"),
    },
    (3, 13): {
        "TO_BOOL": JOINED,  # before a branch or UNARY_NOT, which take the truth of any value
        "END_FOR": JOINED,  # before a POP_TOP
        "FORMAT_SIMPLE": "FORMAT_VALUE",
        "FORMAT_WITH_SPEC": "FORMAT_VALUE",
        **{name: " ".join(words) for name, words in PAIRS.items()},
    },
})  # fmt: skip
STOPITERATION_ERROR: Final = 3  # the argument by which a generator's own handler makes StopIteration a RuntimeError
WITH_SPEC: Final = 4  # of the word FORMAT_VALUE


# Beside what is called there is an empty place for a method's object: below it in these versions, else above it.
NULL_BELOW: Final = frozenset([(3, 11), (3, 12)])


def rows_of(version: tuple[int, int]) -> dict[str, Row]:
    """All rows that hold for a version.

    >>> "END_FOR" in rows_of((3, 11)), rows_of((3, 13))["RETURN_CONST"]
    (False, 'LOAD_CONST RETURN_VALUE')
    """
    return {name: row for since in SUPPORTED if since <= version for name, row in CHANGES[since].items()}


def words_of(rows: Mapping[str, Row], name: str, arg: int, value: Any) -> list[Word]:
    """The words as which one instruction is read; none if it has no effect or is a part of the next.

    >>> [word.name for word in words_of(rows_of((3, 13)), "STORE_FAST_LOAD_FAST", 0x12, ("a", "b"))]
    ['STORE_FAST', 'LOAD_FAST']
    """
    row = rows.get(name, name)
    names = (row if isinstance(row, str) else row(arg)).split()
    if names == [JOINED]:
        return []
    values = value if name in PAIRS else [value] * len(names)
    if names == ["FORMAT_VALUE"]:
        arg = {"FORMAT_SIMPLE": 0, "FORMAT_WITH_SPEC": WITH_SPEC}.get(name, arg)
    return [Word(one, arg, value) for one, value in zip(names, values, strict=True)]


THIS: Final = sys.version_info[:2]
UNDERSTOOD: Final = THIS in SUPPORTED
ROWS: Final = rows_of(THIS)
NULL_IS_BELOW: Final = THIS in NULL_BELOW


def names_of_versions() -> str:
    """The supported versions, for a message.

    >>> names_of_versions()
    '3.11, 3.12 and 3.13'
    """
    names = [".".join(map(str, version)) for version in SUPPORTED]
    return f"{', '.join(names[:-1])} and {names[-1]}"
