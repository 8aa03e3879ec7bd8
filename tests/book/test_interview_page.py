"""Do the pages of interview questions have all of them once, with answers that open and ways that lead somewhere?"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.book.small_book import ROOT, SmallBook
from workbook.book.contents import chapter_title, sections
from workbook.book.errata import errata
from workbook.book.errors import BookError
from workbook.book.interview_page import (
    FIRST,
    SECOND,
    document_questions,
    first_questions,
    folded_question,
    second_questions,
)
from workbook.book.topics import TITLES, topics_of
from workbook.review.document_003 import QUESTIONS
from workbook.review.interview import Interview, interview

PAGES = {FIRST: first_questions(ROOT), SECOND: second_questions(ROOT)}
DOCUMENT = document_questions(ROOT)
EVERY = list(interview(ROOT))
PATHS = {section.path for section in sections(ROOT)}


def test_every_question_of_every_section_is_on_one_page_once() -> None:
    asked = Counter(re.findall(r"^> \[!QUESTION\]- (.+)$", "\n".join(PAGES.values()), re.MULTILINE))
    assert asked == Counter(one.question for one in EVERY)
    assert set(asked.values()) == {1}


def test_a_question_stands_under_its_topic_with_its_answer_and_its_section() -> None:
    parts = {}
    for page, text in PAGES.items():
        found = re.findall(r"^## [^\n]+ \{ #([a-z]+) \}\n\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        parts |= {topic: (page, part) for topic, part in found}
    assert list(parts) == list(TITLES)
    for one in EVERY:
        page, part = parts[topics_of(one.section.path)[0]]
        quoted = folded_question(one, page)
        assert quoted in part
        assert "\n".join(f"> {line}".rstrip() for line in one.answer.splitlines()) in quoted
        assert quoted.endswith(f">\n> Taught in [{one.section.title}](../{one.section.path}).")


def test_a_topic_names_the_sections_that_are_listed_elsewhere() -> None:
    memory, cuda, training = (
        PAGES[page].partition(f"{{ #{name} }}\n\n")[2].partition("\n\n")[0]
        for name, page in (("memory", FIRST), ("cuda", SECOND), ("training", SECOND))
    )
    assert memory.startswith("`workbook review memory` asks those of [One buffer, many views](#views), ")
    assert "[The caching allocator](interview-devices-to-training.md#allocator)" in memory
    assert cuda == "`workbook review cuda` also asks those of [The caching allocator](#allocator)."
    assert training.startswith("`workbook review training` also asks those of [What a module is](#modules)")


def test_links_of_an_answer_lead_to_the_same_place() -> None:
    one = Interview(EVERY[0].section, "Why?", "See [that](other.md).")
    assert f"> See [that](../{one.section.path.partition('/')[0]}/other.md)." in folded_question(one, FIRST)


def test_all_questions_of_document_003_are_there_with_sections_and_errata() -> None:
    known = {entry.id: entry.document for entry in errata(ROOT)}
    for one in QUESTIONS:
        (part,) = (part for part in re.split(r"\n\n(?=<span)", DOCUMENT) if one.question in part)
        assert one.english in part
        assert all(f"](../{path}.md)" in part and f"{path}.md" in PATHS for path in one.sections)
        assert all(f"](../reference/errata.md#{number})" in part for number in one.errata)
        assert {known[number] for number in one.errata} <= {"003"}
        assert ("Not taught yet" in part) == (one.missing is not None)
    assert f"deployment with `torch.export`: chapter {chapter_title('10')}" in DOCUMENT


def test_a_section_without_a_topic_is_an_error_of_the_book(book: SmallBook) -> None:
    (book.root / "mkdocs.yml").write_text("nav:\n  - 02-a/b.md\n", encoding="utf-8")
    (book.root / "chapters" / "02-a").mkdir()
    book.section("# B\n\n*Lead.*\n\n> [!QUESTION]- Why?\n> So.\n", "02-a/b")
    with pytest.raises(BookError, match=r"02-a/b\.md asks questions, and has no topic"):
        first_questions(book.root)
