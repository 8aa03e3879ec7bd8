"""Does every question of the book ask one fact, once, in words that stand alone?"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.book.small_book import ROOT
from workbook.book.render import choice_markdown
from workbook.predictions.question import LINE, NUMBER, hashed
from workbook.predictions.questions import Asked, questions

ASKED = questions(ROOT)
SECTIONS = sorted({asked.section for asked in ASKED})
POINTING = re.compile(
    r"\b((the|this|next|last) (cell|output)|(cell|code|line|table|program|figure) (above|below))\b", re.IGNORECASE
)


def named(asked: Asked) -> str:
    """A question's name in the list of tests."""
    return f"{asked.section}:{asked.question.question[:40]}"


def test_the_book_asks_in_every_chapter() -> None:
    chapters = Counter(asked.chapter for asked in ASKED)
    assert min(chapters.values()) >= 9
    assert len(ASKED) >= 145
    assert len({asked.question.kind for asked in ASKED}) == 5


def test_no_question_is_asked_twice() -> None:
    texts = Counter(asked.question.question for asked in ASKED)
    assert [text for text, count in texts.items() if count > 1] == []
    assert len({asked.question.identity for asked in ASKED}) == len({a.question.key for a in ASKED}) == len(ASKED)


@pytest.mark.parametrize("asked", ASKED, ids=named)
def test_a_question_stands_alone(asked: Asked) -> None:
    text = asked.question.question
    assert re.search(r"[?.)]$", text), text
    assert text.count("?") <= 1, text
    assert len(text) <= 240, text
    assert POINTING.findall(text) == []
    assert asked.reason.strip()
    assert asked.outputs


@pytest.mark.parametrize("asked", ASKED, ids=named)
def test_an_answer_can_be_given(asked: Asked) -> None:
    question = asked.question
    if question.kind == "text":
        assert len(question.expected[0]) <= LINE
    if question.kind in ("choice", "several"):
        assert 2 <= len(question.choices) <= 8
    if question.kind != "open":
        assert question.mark(question.expected)
        # It is evaluated, and not written down: one that names nothing could not notice that the cell has changed.
        assert re.search(r"[a-z_]", re.sub(r"'[^']*'|\"[^\"]*\"", "", question.expression)), question.expression


@pytest.mark.parametrize("asked", ASKED, ids=named)
def test_the_numbers_among_the_choices_are_set_in_one_style(asked: Asked) -> None:
    numbers = [choice for choice in asked.question.choices if NUMBER.fullmatch(choice.replace("`", ""))]
    assert {choice_markdown(choice)[0] for choice in numbers} <= {"`"}


def test_all_choices_may_be_right_and_none() -> None:
    shares = {len(a.question.right_choices()) / len(a.question.choices) for a in ASKED if a.question.kind == "several"}
    assert {0, 1} < shares  # else a reader who knows nothing could leave both out


@pytest.mark.parametrize("section", SECTIONS)
def test_the_right_choice_does_not_always_stand_at_the_same_place(section: str) -> None:
    places = [asked.question.right_choices()[0] for asked in ASKED
              if asked.section == section and asked.question.kind == "choice"]  # fmt: skip
    assert len(places) < 4 or len(set(places)) > 1


def test_a_key_is_a_hash_that_another_program_can_compute() -> None:
    question = ASKED[0].question
    assert question.identity == hashed(question.question, question.kind, question.choices)[:10]
    assert re.fullmatch(r"[0-9a-f]{16}", question.key)
