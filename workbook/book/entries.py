"""Which lines of a file of the library stand under a name: a row of a table, or a definition in CUDA C++?"""

from __future__ import annotations

import re
from collections.abc import Callable


def row(lines: list[str], entry: str) -> list[str]:
    """The row of a yaml table that declares this operator; empty if there is none."""
    starts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    heads = re.compile(rf"- \w+: {re.escape(entry)}(?![\w.])")
    first = next((number for number in starts if heads.match(lines[number])), None)
    if first is None:
        return []
    end = next((number for number in starts if number > first), len(lines))
    return [line for line in lines[first:end] if not line.startswith("#")]


def call(lines: list[str], entry: str) -> list[str]:
    """The line of a Python module that calls a function with this name first, after a table: `row("t", ...)`."""
    names = re.compile(rf"@?\w+\((\w+, )?[\"']{re.escape(entry)}[\"']")
    return [line for line in lines if names.match(line)][:1]


def definition(lines: list[str], name: str) -> list[str]:
    """A function or structure of C++ with the comment and the template line above it; empty if there is none."""
    found = range_of_definition(lines, name)
    return [lines[number] for number in found]


def range_of_definition(lines: list[str], name: str) -> range:
    """The numbers of the lines of a definition in C++, from 0; empty if there is none.

    It ends at the first brace that stands as far to the right as its own first line.
    """
    heads = re.compile(rf"(?!\s*//).*\b{re.escape(name)}\b\s*(\(|\{{|$)")
    first = next((n for n, line in enumerate(lines) if heads.match(line) and not line.rstrip().endswith(";")), None)
    if first is None:
        return range(0)
    indent = re.match(r"\s*", lines[first])[0]  # type: ignore[index]
    whole = "{" in lines[first] and lines[first].rstrip().endswith("}")
    end = first if whole else next(n for n in range(first, len(lines)) if re.match(rf"{indent}\}}", lines[n]))
    while first and re.match(rf"{indent}(//|template|extern|__global__)", lines[first - 1]):
        first -= 1
    return range(first, end + 1)


# What quotes an entry of a file, by its suffix, and how the entry is called; of other files it is a definition in C++.
ENTRIES: dict[str, tuple[Callable[[list[str], str], list[str]], str]] = {
    ".yaml": (row, "row for"),
    ".py": (call, "row for"),
}
