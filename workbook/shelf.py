"""Which text of the library is shown to a reader: ours, or that of the copy with the fault of a repair?

While a repair is started and has not passed, it is the copy, whatever is asked for: so neither what is shown nor what
is refused tells where the fault is.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from workbook.book.withheld import library, masked
from workbook.book.withheld import places as withheld_places
from workbook.exercises.catalogue import Exercise
from workbook.exercises.say import command
from workbook.exercises.state import State, key


class Shelf(NamedTuple):
    """Where the text of the library is taken from, and what of it is open."""

    root: Path
    opened: Collection[str]  # exercises
    repair: Exercise | None  # whose copy is shown

    def copy_of(self, file: Path) -> Path:
        """The file that is shown for a file of the library: the same, or that of the reader's copy."""
        if self.repair is None or not file.is_relative_to(library()):
            return file
        other = self.repair.faulty / "glasstorch" / file.relative_to(library())
        return other if other.is_file() else file

    def lines(self, file: Path) -> list[str]:
        """The lines of a file without what is withheld, an entry for each of ours; some may be longer, or empty."""
        lines = masked(file, self.root, self.opened)
        held = {number for one in withheld_places(file, self.root, self.opened) for number in one.lines}
        shown = texts(self.copy_of(file))
        for begin, end, first, last in changes(file, self.copy_of(file)):
            other = "".join(shown[first:last])
            beside = max(begin - 1, 0)  # where lines are only added, they go with the one above, or else below
            if held.intersection(range(begin, end) if begin < end else [beside]):
                continue
            if begin < end:
                lines[begin:end] = [other, *[""] * (end - begin - 1)]
            else:
                lines[beside] = lines[beside] + other if begin else other + lines[beside]
        return lines

    def line(self, file: Path, number: int) -> int:
        """The number of one of our lines in the file that is shown."""
        moved = (last - first - (end - begin) for begin, end, first, last in changes(file, self.copy_of(file))
                 if end <= number)  # fmt: skip
        return number + sum(moved)


def texts(file: Path) -> list[str]:
    """The lines of a file."""
    return file.read_text(encoding="utf-8").splitlines(keepends=True)


def changes(ours: Path, other: Path) -> list[tuple[int, int, int, int]]:
    """The lines of ours that another file has otherwise, and those that it has in their place."""
    if ours == other or (before := texts(ours)) == (after := texts(other)):
        return []
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [lines for kind, *lines in found if kind != "equal"]  # type: ignore[misc]


def repair_begun(known: Iterable[Exercise], state: State) -> Exercise | None:
    """The repair that is started and has not passed: the last one worked on, or else the first."""
    begun = [
        exercise
        for exercise in known
        if exercise.is_repair and exercise.faulty.is_dir() and not state.of(exercise).passed
    ]
    return min(begun, key=lambda exercise: key(exercise) != state.last, default=None)


def note_on_copy(repair: Exercise, asked: str) -> str:
    """The sentence below everything that is shown while a repair is started."""
    return (
        f"{repair.identity} {repair.title} is started: all that is shown of the library is from your copy, which has\n"
        f"one fault, here or elsewhere.\n  to see ours all the same: {command(f'source {asked} --anyway')}"
    )
