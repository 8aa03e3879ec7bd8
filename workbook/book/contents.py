"""Which sections does the book have, in which order, and how long does each take?

The order is the navigation's, in mkdocs.yml. Time, needs and aim stand in each section's lead paragraph
(*15 minutes. Needs: ... You will ...*). Nothing is written down twice.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from workbook.book.errors import BookError
from workbook.book.project import CHAPTERS

# By the number that begins the names of their folders.
TITLES = {
    "00": "Start",
    "01": "Architecture",
    "02": "Tensor and storage",
    "03": "Dispatcher",
    "04": "Autograd",
    "05": "CUDA",
    "06": "JIT and compile",
    "07": "nn and training",
    "08": "Distributed",
    "09": "Quantization",
    "10": "Export and tools",
}
IN_NAVIGATION = re.compile(r"^ *- (?P<path>(?P<chapter>\d\d)-[\w-]+/[\w-]+\.md)$", re.MULTILINE)
HEAD = re.compile(r"^# (?P<title>.+)\n\n\*(?P<lead>(?:(?P<minutes>\d+) minutes\. )?[^*]+)", re.MULTILINE)
NEEDS = re.compile(r"Needs:(.*)You\s+will", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+\.md)")


class Section(NamedTuple):
    """One section of the book, as its front matter describes it."""

    chapter: str  # its number
    path: str  # of its text, below the folder of chapters
    title: str
    minutes: int  # 0 for what is there to look things up
    needs: tuple[str, ...]  # the sections to read before, by their paths


def sections(root: Path) -> Iterator[Section]:
    """The sections in the navigation, in order.

    Raises BookError where one is named that is not there, or that does not say how long it takes.
    """
    for named in IN_NAVIGATION.finditer((root / "mkdocs.yml").read_text(encoding="utf-8")):
        path = root / CHAPTERS / named["path"]
        head = HEAD.search(path.read_text(encoding="utf-8")) if path.is_file() else None
        if head is None:
            raise BookError(
                f"mkdocs.yml: the navigation names {named['path']}, "
                f"{'which has no title with its time below it' if path.is_file() else 'and there is no such section'}\n"
                "  accepted: a file below chapters/ that begins '# Title', and after an empty line '*15 minutes. ...*'"
            )
        needs = LINK.findall(found[1]) if (found := NEEDS.search(head["lead"])) else []
        folder = posixpath.dirname(named["path"])
        before = tuple(posixpath.normpath(posixpath.join(folder, link)) for link in needs)
        yield Section(named["chapter"], named["path"], head["title"], int(head["minutes"] or 0), before)


def first_sections(root: Path) -> dict[str, Section]:
    """The first section of each chapter that has sections, by the chapter's number."""
    return {chapter: next(found) for chapter, found in groupby(sections(root), key=lambda section: section.chapter)}


def chapter_title(number: str) -> str:
    """The title of a chapter in the book.

    >>> chapter_title("04")
    '04 Autograd'
    """
    return f"{number} {TITLES[number]}"
