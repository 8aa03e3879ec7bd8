"""Does the book's list of contents say what there is, in the navigation's order, with the right times?"""

from __future__ import annotations

import re

import pytest

from tests.book.small_book import ROOT, SmallBook
from workbook.book.contents import TITLES, Section, chapter_title, first_sections, sections
from workbook.book.errors import BookError
from workbook.book.exercise_pages import all_exercises
from workbook.book.home import contents
from workbook.book.source_map import CHAPTERS as SOURCE_MAP

NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.fixture
def small(book: SmallBook) -> SmallBook:
    """Two chapters of four sections, listed against the alphabet; one is there to look things up."""
    heads = {
        "02-a/z": "Z\n\n*10 minutes. Needs: Python. You will",
        "02-a/b": "B\n\n*25 minutes. Needs: [Z](z.md). You\nwill",
        "05-c/c": "C\n\n*15 minutes. Needs: [B](../02-a/b.md#here), and\n[D](d.md). You will [not](x.md)",
        "05-c/d": "D\n\n*To look up",
    }
    for name, head in heads.items():
        path = book.root / "chapters" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"---\nx: y\n---\n\n# {head}: more.*\n\n## Part\n", encoding="utf-8")
    listed = "\n".join(f"      - {name}.md" for name in heads)
    (book.root / "mkdocs.yml").write_text(f"nav:\n  - Home: index.md\n  - All:\n{listed}\n", encoding="utf-8")
    return book


def test_sections_come_in_the_order_of_the_navigation(small: SmallBook) -> None:
    assert list(sections(small.root)) == [
        Section("02", "02-a/z.md", "Z", 10, ()),
        Section("02", "02-a/b.md", "B", 25, ("02-a/z.md",)),
        Section("05", "05-c/c.md", "C", 15, ("02-a/b.md", "05-c/d.md")),
        Section("05", "05-c/d.md", "D", 0, ()),
    ]
    assert {number: first.title for number, first in first_sections(small.root).items()} == {"02": "Z", "05": "C"}


def test_the_contents_tell_times_and_what_is_missing(small: SmallBook) -> None:
    text = contents(small.root)
    assert "02 Tensor and storage\n\n:   [Z](02-a/z.md) *10 min*\n\n:   [B](02-a/b.md) *25 min*\n\n05 CUDA\n" in text
    assert "05 CUDA\n\n:   After [B](02-a/b.md)\n\n:   [C](05-c/c.md) *15 min*\n\n:   [D](05-c/d.md)\n" in text
    assert text.endswith(
        "Not written yet: " + ", ".join(chapter_title(n) for n in TITLES if n not in ("02", "05")) + "."
    )


@pytest.mark.parametrize("text", [None, "no title\n", "# Title\n\nNo time.\n"])
def test_a_section_that_is_not_there_or_says_no_time_is_named(small: SmallBook, text: str | None) -> None:
    path = small.root / "chapters" / "02-a" / "b.md"
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    said = "no such section" if text is None else "has no title with its time below it"
    with pytest.raises(
        BookError, match=rf"the navigation names 02-a/b\.md, (and there is|which) .*{said.split(' ', 1)[1]}"
    ):
        list(sections(small.root))


def test_every_section_of_the_book_is_in_its_contents() -> None:
    there = {path.relative_to(ROOT / "chapters").as_posix() for path in (ROOT / "chapters").glob("[0-9][0-9]-*/*.md")}
    assert {section.path for section in sections(ROOT)} == there


def test_every_section_after_the_first_needs_another() -> None:
    alone = [section.path for section in sections(ROOT) if section.minutes and not section.needs]
    assert alone == ["00-start/how-to-read.md"]


def test_no_section_needs_one_that_stands_after_it() -> None:
    seen: set[str] = set()
    for section in sections(ROOT):
        assert set(section.needs) - seen == set(), section.path
        seen.add(section.path)


def test_chapters_have_one_title_everywhere() -> None:
    named = re.findall(r"^  - (\d\d .+):$", NAVIGATION, re.MULTILINE)
    assert named == [chapter_title(number) for number in first_sections(ROOT)]
    of_one_chapter = [title for title in SOURCE_MAP.values() if not title.startswith("07 to 10")]
    assert of_one_chapter == [chapter_title(title[:2]) for title in of_one_chapter]


def test_every_exercise_is_in_the_contents_with_its_time() -> None:
    text, every = contents(ROOT), all_exercises(ROOT)
    assert all(f"[{exercise.identity}](exercises/{exercise.identity}-" in text for exercise in every)
    told = [int(minutes) for minutes in re.findall(r":   Exercises .* \*(\d+) min\*", text)]
    assert sum(told) == sum(exercise.minutes for exercise in every)
