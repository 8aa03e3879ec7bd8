"""Is every question of a section found, with the whole of its answer and nothing else?"""

from __future__ import annotations

import doctest
import re

import pytest

from tests.book.small_book import ROOT
from workbook.book.contents import Section, sections
from workbook.review import interview as module
from workbook.review.interview import asked_in, interview, key_of, moved

SECTION = Section("02", "02-tensor-storage/views.md", "Views", 20, ())
EVERY = list(interview(ROOT))


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


def test_a_question_has_its_answer_without_the_marks_of_the_quotation() -> None:
    text = "Before.\n\n> [!QUESTION]- What is `x[0]`?\n> A view:\n>\n> - one\n>   more\n\nAfter.\n\n> A quotation.\n"
    (one,) = asked_in(SECTION, text)
    assert one.question == "What is `x[0]`?"
    assert one.answer == "A view:\n\n- one\n  more"
    assert one.section is SECTION


@pytest.mark.parametrize("between", ["\n", ""])
def test_questions_that_follow_each_other_are_two(between: str) -> None:
    first, second = asked_in(SECTION, f"> [!QUESTION]- A?\n> a\n{between}> [!QUESTION]- B?\n> b")
    assert (first.question, first.answer, second.question, second.answer) == ("A?", "a", "B?", "b")


def test_other_boxes_are_no_questions() -> None:
    assert list(asked_in(SECTION, "> [!NOTE] What is that?\n> Nothing.\n")) == []


def test_the_key_is_that_of_the_question_alone() -> None:
    one, same = (
        next(asked_in(SECTION, f"> [!QUESTION]- Why  that?\n> {answer}\n")) for answer in ("Because.", "Mended.")
    )
    assert one.key == same.key == key_of("Why that?")
    assert re.fullmatch("[0-9a-f]{16}", one.key)


def test_a_link_leads_to_the_same_place_from_another_page() -> None:
    text = "[a](b.md), [c](../03-dispatcher/d.md#e), [f](https://g.example/h), [i](#j)"
    assert moved(text, "02-tensor-storage/views.md", "exercises/interview.md") == (
        "[a](../02-tensor-storage/b.md), [c](../03-dispatcher/d.md#e), [f](https://g.example/h), [i](#j)"
    )


@pytest.mark.parametrize("section", list(sections(ROOT)), ids=lambda section: section.path)
def test_no_question_of_the_book_is_overlooked(section: Section) -> None:
    text = (ROOT / "chapters" / section.path).read_text(encoding="utf-8")
    found = [one for one in EVERY if one.section == section]
    assert len(found) == text.count("[!QUESTION]")
    assert all(one.answer for one in found)


def test_no_question_is_asked_twice() -> None:
    assert len({one.key for one in EVERY}) == len(EVERY) > 100


UNDER_ITS_SECTION = re.compile(r"\bthis section\b|\bin this way\b|\babove\b|, then\?", re.IGNORECASE)


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.question)
def test_a_question_and_its_answer_can_be_understood_without_the_section(one: module.Interview) -> None:
    assert not UNDER_ITS_SECTION.search(one.question)
    assert "this section" not in one.answer
