"""Which questions are asked today, and in which order?

Those that are due, the longest overdue first; then predictions that were missed; then new ones, in the order of the
book, from as far as the reader has come. How far that is, their predictions and exercises tell: in each chapter, up to
the last section in which they predicted something or to which an exercise that they began belongs. Who has done nothing
yet begins with the first chapter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from workbook.book.contents import Section, sections
from workbook.book.errors import BookError
from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError, survey
from workbook.exercises.say import count, width
from workbook.exercises.state import State
from workbook.predictions.question import Question as Predicted
from workbook.predictions.questions import Asked
from workbook.predictions.questions import questions as predictions
from workbook.predictions.terminal import INDENT, LINES, readable
from workbook.review.interview import interview


class Question(NamedTuple):
    """What a card asks. Its texts are Markdown."""

    key: str  # of its card in the reader's record
    section: Section
    text: str
    answer: str
    predicted: Predicted | None = None  # whose answer is compared; where there is none, the reader judges


@dataclass(frozen=True)
class Deck:
    """The questions of a sitting, and those of them that may be asked although they are new."""

    questions: tuple[Question, ...]
    open: frozenset[str]  # keys

    def due(self, state: State, day: str) -> list[Question]:
        """Those that come back on this day or should have before."""
        return [one for one in self.scheduled(state) if state.cards[one.key].due <= day]

    def new(self, state: State) -> list[Question]:
        """Those that were never asked, as far as the reader has come."""
        return [one for one in self.questions if one.key in self.open and one.key not in state.cards]

    def later(self, state: State, day: str) -> list[Question]:
        """Those that come back after this day."""
        return [one for one in self.scheduled(state) if state.cards[one.key].due > day]

    def scheduled(self, state: State) -> list[Question]:
        """Those that were asked before, in the order in which they come back."""
        asked = [one for one in self.questions if one.key in state.cards]
        return sorted(asked, key=lambda one: state.cards[one.key].due)


def deck(root: Path, state: State, name: str | None = None) -> Deck:
    """The questions of the whole book, or all those of the chapter, topic or section of this name."""
    everything = questions(root, state)
    if name is not None:
        from workbook.parts import sections_called

        paths = sections_called(
            root, name, dict.fromkeys(place(one.section) for one in everything), "is asked in a review"
        )
        wanted = tuple(one for one in everything if place(one.section) in paths)
        return Deck(wanted, frozenset(one.key for one in wanted))
    come_by = reached(root, list(book(root)), state)
    is_open = (one for one in everything if one.section.path in come_by or one.key in state.predictions)
    return Deck(everything, frozenset(one.key for one in is_open))


def questions(root: Path, state: State) -> tuple[Question, ...]:
    """Every question that may come back: the predictions that were missed, then those of interviews."""
    try:
        asked = [Question(one.key, one.section, one.question, one.answer) for one in interview(root)]
    except BookError as error:
        raise ExerciseError(str(error)) from error
    return (*missed_predictions(root, state), *asked)


def missed_predictions(root: Path, state: State) -> Iterator[Question]:
    """The questions of the book to which the reader has once given an answer that was not right.

    They are found by their keys, in all of the book: a section may stand in another chapter than when it was read.
    """
    missed = {key for key, prediction in state.predictions.items() if prediction.mark == "wrong"}
    if not missed:
        return
    known = {section.path: section for section in book(root)}
    for asked in predictions(root):
        if asked.question.key in missed and (section := known.get(f"{asked.section}.md")) is not None:
            yield from_prediction(asked, section)


def from_prediction(asked: Asked, section: Section) -> Question:
    """A prediction as a card asks it: the code, then the question; the answer is what the code printed, and why."""
    from workbook.predictions.context import context

    question = asked.question
    above = context(asked.code, asked.above)
    code = f"Above the cell:\n\n{fenced(above)}\n\nThe cell:\n\n{fenced(asked.code)}" if above else fenced(asked.code)
    return Question(
        question.key,
        section,
        f"{code}\n\n{question.question}",
        f"{fenced(output_of(asked))}\n\n{asked.reason}",
        question if question.kind != "open" else None,
    )


def fenced(text: str) -> str:
    """A text as Markdown that shows it as it is, or nothing if there is none."""
    return f"```\n{text}\n```" if text.strip() else ""


def output_of(asked: Asked) -> str:
    """What the cell printed, of a long output the beginning."""
    lines = [line for output in asked.outputs for line in readable(output, width() - len(INDENT))]
    left = len(lines) - LINES
    return "\n".join([*lines[:LINES], *([f"... and {count(left, 'more line')}"] if left > 0 else [])])


def book(root: Path) -> Iterator[Section]:
    """The sections of the book."""
    try:
        yield from sections(root)
    except BookError as error:
        raise ExerciseError(str(error)) from error


def count_due(root: Path, state: State) -> int:
    """How many cards are due today. The card of a question that the book no longer asks is not counted."""
    today = states.today()
    due = {key for key, card in state.cards.items() if card.due <= today}
    return len(due & {one.key for one in questions(root, state)}) if due else 0


# --- how far the reader has come ---


def reached(root: Path, in_order: Sequence[Section], state: State) -> set[str]:
    """The paths of the sections that the reader has come by."""
    touched = {f"{path}.md" for path in touched_sections(root, state)}
    found = set()
    for _, chapter in groupby(in_order, key=lambda section: section.chapter):
        paths = [section.path for section in chapter]
        last = max((place for place, path in enumerate(paths) if path in touched), default=-1)
        found.update(paths[: last + 1])
    return found or {section.path for section in in_order if section.chapter == in_order[0].chapter}


def touched_sections(root: Path, state: State) -> set[str]:
    """The sections in which something was predicted, and those of the exercises that were begun."""
    touched = {prediction.section for prediction in state.predictions.values()}
    if state.records:
        with suppress(ExerciseError):  # no exercise can be read: those commands say so that need one
            touched |= {e.section for e in survey(root)[0] if states.key(e) in state.records}
    return touched


def place(section: Section) -> str:
    """Where a section stands in the book, without the ending of its text."""
    return section.path.removesuffix(".md")
