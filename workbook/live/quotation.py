"""What may a page quote of the library once its reader has passed the exercises that ask for it?

A built page quotes without what exercises ask for. It asks here for the same place once more, and gets what those that
have passed no longer withhold, as `workbook source` shows it.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

from workbook.book.places import place_of
from workbook.book.quotes import quoted
from workbook.exercises import state as states
from workbook.exercises.catalogue import survey
from workbook.predictions.pages import Answer, refused

EXERCISES = "/exercises"  # their pages, from the top of the book


def quotation(root: Path, place: str) -> Answer:
    """The quotation of a place of the library, such as `kernels/views.py:40`, as `quoted` gives it."""
    if place_of(place) != place:
        return refused(HTTPStatus.NOT_FOUND, f"The library has no place {place}.")
    state = states.load(root)
    opened = {exercise.identity for exercise in survey(root)[0] if state.of(exercise).passed}
    return HTTPStatus.OK, {"quoted": quoted(place, EXERCISES, root, opened)}
