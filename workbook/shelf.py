"""Which text of the library is shown to a reader: ours, or that of the copy with the fault of a repair?

While a repair is what the reader works on, it is the copy, whatever is asked for: so neither what is shown nor what is
refused tells where the fault is. Once another exercise is worked on, or the copy is deleted, it is ours again.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from workbook.book.project import shown
from workbook.book.withheld import library, masked
from workbook.book.withheld import places as withheld_places
from workbook.exercises.catalogue import Exercise, ExerciseError
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

    def copied(self, file: Path) -> list[str]:
        """The lines of the file that is shown, as it is; ExerciseError where the reader's copy of it is not text."""
        other = self.copy_of(file)
        try:
            return texts(other)
        except (OSError, UnicodeDecodeError) as error:
            if self.repair is None:
                raise
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise ExerciseError(
                f"{shown(other)} cannot be read: {reason}\n  save it as text in UTF-8, or have the copy made again: "
                f"delete {shown(self.repair.faulty)}, then {command(f'faulty {self.repair.identity}')}"
            ) from error

    def lines(self, file: Path) -> list[str]:
        """The lines of a file without what is withheld, an entry for each of ours; some may be longer, or empty."""
        lines = masked(file, self.root, self.opened)
        held = {number for one in withheld_places(file, self.root, self.opened) for number in one.lines}
        copied = self.copied(file)
        for begin, end, first, last in changes(texts(file), copied):
            other = "".join(copied[first:last])
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
        moved = (last - first - (end - begin) for begin, end, first, last in changes(texts(file), self.copied(file))
                 if end <= number)  # fmt: skip
        return number + sum(moved)


def texts(file: Path) -> list[str]:
    """The lines of a file."""
    return file.read_text(encoding="utf-8").splitlines(keepends=True)


def changes(before: list[str], after: list[str]) -> list[tuple[int, int, int, int]]:
    """The lines of ours that another file has otherwise, and those that it has in their place."""
    if before == after:
        return []
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(begin, end, first, last) for kind, begin, end, first, last in found if kind != "equal"]


def repair_at_hand(known: Iterable[Exercise], state: State) -> Exercise | None:
    """The repair that was worked on last, if it has not passed and its copy is there."""
    last = next((exercise for exercise in known if key(exercise) == state.last), None)
    if last is None or not last.is_repair or state.of(last).passed or not last.faulty.is_dir():
        return None
    return last


def note_on_copy(repair: Exercise, asked: str) -> str:
    """The sentence below everything that is shown while a repair is worked on."""
    return (
        f"You work on {repair.identity} {repair.title}: all that is shown of the library is from your copy, which has\n"
        "one fault, here or elsewhere. You see ours when you have started another exercise, or deleted\n"
        f"{shown(repair.faulty)}\n"
        f"  to see ours at once, and what other exercises ask for: {command(f'source {asked} --anyway')}"
    )
