"""From which lines of the program does a line of a stage come?

Mirrors: torch/fx/node.py (Node.stack_trace) in what it reads
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from types import CodeType
from typing import Any, Final, NamedTuple

FRAME: Final = re.compile(r'^  File "(.*)", line (\d+), in (.*)$', re.MULTILINE)
WHERE: Final = re.compile(r"^(.*):(\d+) in (.*)$")
OURS: Final = __file__.removesuffix("compiler/reports/places.py")


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


Places = frozenset[Place]
NOWHERE: Final[Places] = frozenset()


def of_trace(trace: str | None) -> Places:
    """The lines of a node's stack."""
    return frozenset(Place(file, int(line)) for file, line, _ in FRAME.findall(trace or ""))


def of_nodes(nodes: Iterable[Any]) -> Places:
    """The lines of several nodes; None stands for a node that is not known."""
    return frozenset().union(*(of_trace(node.stack_trace) for node in nodes if node is not None))


def of_where(where: str) -> Places:
    """The line that a reason for a graph break names."""
    found = WHERE.match(where)
    return frozenset([Place(found[1], int(found[2]))]) if found else NOWHERE


def source_of(code: CodeType) -> list[tuple[int, str]]:
    """The lines of a function, with their numbers; none if its file cannot be read."""
    numbers = [line for _, _, line in code.co_lines() if line]
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            numbers += [number for number, _ in source_of(inner)]
    first, last = min([code.co_firstlineno, *numbers]), max([code.co_firstlineno, *numbers])
    last = _to_its_end(code.co_filename, last)
    lines = [(number, linecache.getline(code.co_filename, number).rstrip("\n")) for number in range(first, last + 1)]
    return lines if any(text for _, text in lines) else []


def _to_its_end(file: str, last: int) -> int:
    """The last line of a statement that begins at a line: its brackets may be closed later."""
    depth, number = 0, last
    while number < last + 20:
        text = linecache.getline(file, number)
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
        if depth <= 0 and not text.rstrip().endswith("\\"):
            return number
        number += 1
    return last


def is_of_the_library(code: CodeType) -> bool:
    """Whether a function is one of this library's."""
    return code.co_filename.startswith(OURS)
