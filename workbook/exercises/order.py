"""Which exercise comes next?

An exercise stands after its section, so those of the section that comes first in the book come first. Within a section
the easier one does; of two that are equally hard, the one with the lower number. One that needs another is put off
until that one has passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbook.exercises.catalogue import Exercise
from workbook.exercises.state import State, key
from workbook.predictions.questions import navigation


def in_order(root: Path, exercises: Sequence[Exercise]) -> list[Exercise]:
    """The exercises by chapter, by their section's place in the book, and by difficulty."""
    book = navigation(root)
    place = {section: number for number, section in enumerate(book)}
    return sorted(exercises, key=lambda one: (one.chapter, place.get(one.section, len(book)), one.difficulty))


def following(root: Path, exercises: Sequence[Exercise], state: State, besides: str = "") -> Exercise | None:
    """The next exercise that has not passed: in order from the section of the last one worked on, and then before it.

    The last one worked on stays the next while it is begun and has not passed. An exercise is put off as long as one
    that it needs has not passed; where nothing else is left, it is named all the same. `besides` is left out.
    """
    ordered = in_order(root, exercises)
    last = next((one for one in ordered if key(one) == state.last), None)
    if last is not None and last.identity != besides and state.of(last).started and not state.of(last).passed:
        return last
    section = last and (last.chapter, last.section)
    start = next((place for place, one in enumerate(ordered) if (one.chapter, one.section) == section), 0)
    left = [one for one in [*ordered[start:], *ordered[:start]] if one.identity != besides and not state.of(one).passed]
    ready = [one for one in left if not missing(one, exercises, state)]
    return next(iter(ready or left), None)


def missing(exercise: Exercise, exercises: Sequence[Exercise], state: State) -> list[str]:
    """The exercises that this one needs and that have not passed; one that does not exist is not missed."""
    return [one.identity for one in exercises if one.identity in exercise.needs and not state.of(one).passed]
