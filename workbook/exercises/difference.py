"""How is the difference between two texts written as a unified diff, and how is such a diff applied?

A diff is applied strictly: each hunk has to find its lines where it says that they are. `moved` looks for lines that
now stand elsewhere.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 1  # unchanged lines around a change
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@\n")


class DifferenceError(Exception):
    """A diff cannot be read, or does not fit the text. The message names the line or hunk, and what does not fit."""


@dataclass(frozen=True)
class Hunk:
    """Lines that are replaced by others; `number` counts the hunks of a diff, `start` the lines above the hunk."""

    number: int
    heading: str
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    def __str__(self) -> str:
        return f"hunk {self.number} ({self.heading})"


def unified(old: str, new: str, old_name: str, new_name: str) -> str:
    """The unified diff from `old` to `new`; empty if they are equal.

    >>> print(unified("a\\nb\\nc\\n", "a\\nB\\nc\\n", "one", "two"), end="")
    --- one
    +++ two
    @@ -1,3 +1,3 @@
     a
    -b
    +B
     c
    """
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), old_name, new_name, n=CONTEXT)
    return "".join("\n" if line == " \n" else line for line in lines)  # no space at the end of an empty line


def hunks(diff: str) -> list[Hunk]:
    """The hunks of a unified diff that begins at its `---` line. An empty line stands for an unchanged empty line."""
    lines = diff.splitlines(keepends=True)
    if len(lines) < 2 or not (lines[0].startswith("--- ") and lines[1].startswith("+++ ")):
        raise DifferenceError("a diff begins with a line `--- OLD` and a line `+++ NEW`")
    return list(read_hunks(lines[2:]))


def read_hunks(lines: Sequence[str]) -> Iterator[Hunk]:
    """The hunks in these lines, each with as many lines as its heading says."""
    rest = list(reversed(lines))
    number = 0
    while rest:
        number += 1
        line = rest.pop()
        heading = HUNK.fullmatch(line)
        if heading is None:
            raise DifferenceError(f"{line.rstrip()!r} is not the heading of hunk {number}; accepted: @@ -8,3 +8,4 @@")
        start = int(heading[1])
        olds, news = (int(count or 1) for count in heading.group(2, 3))
        old: list[str] = []
        new: list[str] = []
        while rest and (len(old) < olds or len(new) < news):
            line = rest.pop()
            sign, text = (line[0], line[1:]) if line != "\n" else (" ", line)
            if sign not in " -+":
                raise DifferenceError(f"hunk {number}: the line {line.rstrip()!r} begins with none of ' ', '-', '+'")
            if sign != "+":
                old.append(text)
            if sign != "-":
                new.append(text)
        if (len(old), len(new)) != (olds, news):
            raise DifferenceError(
                f"hunk {number} ({heading[0].rstrip()}) has {len(old)} old and {len(new)} new lines; "
                f"its heading says {olds} and {news}"
            )
        yield Hunk(number, heading[0].rstrip(), start - 1 if old else start, tuple(old), tuple(new))


def applied(old: str, changes: Sequence[Hunk], name: str) -> str:
    """The result of applying the hunks to `old`, which errors call `name`.

    >>> applied("a\\nb\\nc\\n", hunks("--- one\\n+++ two\\n@@ -2 +2 @@\\n-b\\n+B\\n"), "one")
    'a\\nB\\nc\\n'
    """
    lines = old.splitlines(keepends=True)
    found: list[str] = []
    taken = 0
    for hunk in changes:
        if hunk.start < taken:
            raise DifferenceError(f"{hunk} does not apply: it begins inside the hunk before it")
        there = lines[hunk.start : hunk.start + len(hunk.old)]
        if tuple(there) != hunk.old:
            raise DifferenceError(f"{hunk} does not apply: {clash(hunk, there, name)}")
        found += [*lines[taken : hunk.start], *hunk.new]
        taken = hunk.start + len(hunk.old)
    return "".join([*found, *lines[taken:]])


def clash(hunk: Hunk, there: Sequence[str], name: str) -> str:
    """The first line that a hunk expects and that the text does not have there."""
    pairs = zip(hunk.old, [*there, *[""] * len(hunk.old)], strict=False)
    place, (wanted, came) = next((place, pair) for place, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    is_there = f"is {came.rstrip()!r}" if came else "is not there"
    return f"line {hunk.start + place} of {name} {is_there}, and the hunk expects {wanted.rstrip()!r}"


def moved(old: str, changes: Sequence[Hunk], name: str) -> list[Hunk]:
    """The hunks at the current positions of their lines, for a text that has become longer or shorter elsewhere.

    A hunk whose lines stand nowhere, or at several places and not at its own, is an error.
    """
    lines = tuple(old.splitlines(keepends=True))
    found = []
    for hunk in changes:
        size = len(hunk.old)
        places = [start for start in range(len(lines) - size + 1) if lines[start : start + size] == hunk.old]
        if hunk.start not in places:
            if len(places) != 1:
                several = f"; its lines stand at {len(places)} other places" if places else ""
                there = lines[hunk.start : hunk.start + size]
                raise DifferenceError(f"{hunk} does not apply: {clash(hunk, there, name)}{several}")
            hunk = Hunk(hunk.number, hunk.heading, places[0], hunk.old, hunk.new)
        found.append(hunk)
    return found
