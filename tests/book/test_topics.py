"""Does every section that asks something have a topic, and every topic a section?"""

from __future__ import annotations

import re

import pytest

from tests.book.small_book import ROOT
from workbook.book.contents import TITLES as CHAPTERS
from workbook.book.contents import sections
from workbook.book.errors import BookError
from workbook.book.topics import OF_SECTION, TITLES, topics, topics_of
from workbook.review.document_003 import QUESTIONS
from workbook.review.interview import interview

ASKING = list(dict.fromkeys(one.section.path for one in interview(ROOT)))


def test_the_table_has_exactly_the_sections_that_ask() -> None:
    assert sorted(OF_SECTION) == sorted(path.removesuffix(".md") for path in ASKING)


def test_every_topic_is_used_and_known() -> None:
    assert {name for names in OF_SECTION.values() for name in names} == set(TITLES)
    assert all(names and len(set(names)) == len(names) for names in OF_SECTION.values())


def test_no_two_topics_have_one_title() -> None:
    assert len(set(TITLES.values())) == len(TITLES)
    assert all(re.fullmatch("[a-z]+", name) for name in TITLES)


def test_every_section_is_listed_once() -> None:
    listed = [path for topic in topics(ASKING) for path in topic.listed]
    assert sorted(listed) == sorted(ASKING)
    (memory,) = (topic for topic in topics(ASKING) if topic.name == "memory")
    assert memory.listed == ()
    assert "02-tensor-storage/one-buffer-many-views.md" in memory.also


def test_a_section_without_a_topic_is_refused_with_what_to_do() -> None:
    with pytest.raises(BookError, match=r"09-a/b\.md asks questions, and has no topic\n  give it a row in workbook"):
        topics_of("09-a/b.md")


def test_document_003_asks_two_questions_in_each_of_three_parts() -> None:
    assert [one.part for one in QUESTIONS] == ["6.1", "6.1", "6.2", "6.2", "6.3", "6.3"]
    assert len({one.question for one in QUESTIONS}) == len({one.english for one in QUESTIONS}) == 6


def test_what_is_not_taught_yet_belongs_to_a_chapter_without_sections() -> None:
    written = {section.chapter for section in sections(ROOT)}
    missing = [one.missing for one in QUESTIONS if one.missing]
    assert [chapter for _, chapter in missing if chapter in written or chapter not in CHAPTERS] == []
    assert all(one.sections or one.missing for one in QUESTIONS)
