"""Which questions does the book ask as they are put in interviews?

They stand folded in the sections: `> [!QUESTION]- Question`, with the answer in the quoted lines below it.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbook.book.contents import Section, sections
from workbook.book.project import CHAPTERS

CALLOUT = re.compile(r"^> \[!QUESTION\]- (?P<question>.+)\n(?P<answer>(?:>(?! \[!).*(?:\n|\Z))+)", re.MULTILINE)
QUOTED = re.compile(r"^> ?", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)[^)\s]+(?=\))")


class Interview(NamedTuple):
    """A question of a section, with its answer; both are Markdown."""

    section: Section
    question: str
    answer: str

    @property
    def key(self) -> str:
        """What the reader's record calls the question."""
        return key_of(self.question)


def interview(root: Path) -> Iterator[Interview]:
    """All of them, in the order of the book. Raises BookError where a section of the navigation is not there."""
    for section in sections(root):
        yield from asked_in(section, (root / CHAPTERS / section.path).read_text(encoding="utf-8"))


def asked_in(section: Section, text: str) -> Iterator[Interview]:
    """The questions in the text of a section."""
    for match in CALLOUT.finditer(text):
        yield Interview(section, match["question"].strip(), QUOTED.sub("", match["answer"]).strip())


def key_of(question: str) -> str:
    """A hash of the question's words.

    The answer is no part of it: where an answer was mended, what the reader has to remember is asked in the same words,
    and the card stays. A question in other words asks for something else, and is a new card.

    >>> key_of("What is a leaf?") == key_of("What is  a leaf?") != key_of("What is a node?")
    True
    """
    return hashlib.sha256(" ".join(question.split()).encode()).hexdigest()[:16]


def moved(markdown: str, section: str, page: str) -> str:
    """A text of a section with its relative links as they are written on another page of the book.

    >>> moved("See [views](views#one).", "storage/strides", "questions/all")
    'See [views](../storage/views#one).'
    """
    here, there = posixpath.dirname(section), posixpath.dirname(page)
    return LINK.sub(lambda link: posixpath.relpath(posixpath.join(here, link[0]), there), markdown)
