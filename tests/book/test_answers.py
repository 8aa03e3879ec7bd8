"""Does the text of an answer say what the book marks as right?

The mark is what an expression gives after the cell has run, and the cell may have changed by then what the expression
reads: a question whose text begins with another answer than the one that is marked tells readers who are right that
they are wrong.
"""

from __future__ import annotations

import re

import pytest

from tests.book.small_book import ROOT
from workbook.predictions.questions import Asked, questions

OF_ONE_ANSWER = [asked for asked in questions(ROOT) if asked.question.kind in ("choice", "number")]
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def letters_of(text: object) -> str:
    """A text without marks and spaces, in which 2.0 is 2, so that `[1.0, 2.0]` and "1, 2" compare."""
    plain = re.sub(r"(?<=\d)\.0(?!\d)", "", str(text).replace("\\", "").replace("`", "").lower())
    return re.sub(r"[^a-z0-9.]", "", plain).rstrip(".")


def begins_with(asked: Asked) -> list[str]:
    """The choices with which the reason begins, the longest first."""
    reason = letters_of(asked.reason)
    choices = [choice for choice in asked.question.choices if letters_of(choice)]
    return sorted((one for one in choices if reason.startswith(letters_of(one))), key=len, reverse=True)


def contradiction(asked: Asked) -> str:
    """What the reason begins with, where that is another answer than the one that is marked; else nothing."""
    right = letters_of(asked.question.value)
    if asked.question.kind == "choice":
        found = begins_with(asked)
        return found[0] if found and letters_of(found[0]) != right else ""
    number = NUMBER.match(asked.reason.replace("\\", ""))
    if number is None or float(number[0].replace(",", "")) == pytest.approx(float(str(asked.question.value)), rel=0.02):
        return ""
    return number[0]


@pytest.mark.parametrize("asked", OF_ONE_ANSWER, ids=lambda asked: f"{asked.section}: {asked.question.question[:40]}")
def test_the_reason_begins_with_the_answer_that_is_marked(asked: Asked) -> None:
    assert contradiction(asked) == "", f"marked as right: {asked.question.value}"


def test_most_reasons_begin_with_an_answer() -> None:
    choices = [asked for asked in OF_ONE_ANSWER if asked.question.kind == "choice"]
    assert sum(bool(begins_with(asked)) for asked in choices) > len(choices) / 2


@pytest.mark.parametrize(
    "asked",
    [asked for asked in questions(ROOT) if asked.question.kind == "several" and begins_with(asked)],
    ids=lambda asked: f"{asked.section}: {asked.question.question[:40]}",
)
def test_a_reason_begins_with_one_of_the_choices_that_are_marked(asked: Asked) -> None:
    marked = {letters_of(choice) for choice in asked.question.value}  # type: ignore[attr-defined]
    assert marked & {letters_of(choice) for choice in begins_with(asked)}
