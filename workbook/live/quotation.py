"""What may a page quote of the library once its reader has passed the exercises that ask for it?

A built page quotes without what exercises ask for. It asks here for the same place once more, and gets what those that
have passed no longer withhold, as `workbook source` shows it.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from pathlib import Path

from workbook.book.places import files, place_of
from workbook.book.quotes import quoted
from workbook.book.withheld import library
from workbook.exercises import state as states
from workbook.exercises.catalogue import survey
from workbook.predictions.pages import Answer, refused

EXERCISES = "/exercises"  # their pages, from the top of the book


def last_change() -> int:
    """When a file of the library was last changed, in nanoseconds; 0 where one is gone."""
    try:
        return max((library() / file).stat().st_mtime_ns for file in files())
    except FileNotFoundError:
        return 0


changed_when_read = cache(last_change)


def quotation(root: Path, place: str) -> Answer:
    """The quotation of a place of the library, such as `kernels/views.py:40`, as `quoted` gives it.

    What is withheld is found by the lines that were read when the first place was asked for, so that nothing is quoted
    of a library that has changed since then.
    """
    if last_change() != changed_when_read():
        why = "The library has changed since the book was opened. Stop its command, and start it again."
        return refused(HTTPStatus.CONFLICT, why)
    if place_of(place) != place:
        return refused(HTTPStatus.NOT_FOUND, f"The library has no place {place}.")
    state = states.load(root)
    opened = {exercise.identity for exercise in survey(root)[0] if state.of(exercise).passed}
    return HTTPStatus.OK, {"quoted": quoted(place, EXERCISES, root, opened)}
