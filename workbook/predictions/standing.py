"""How many predictions has the reader committed, and how many were right, by section, chapter and topic?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from workbook.book.topics import OF_SECTION, TITLES
from workbook.exercises.state import State
from workbook.predictions.questions import Asked


@dataclass(frozen=True)
class Standing:
    """The predictions of a part of the book: how many there are, how many are committed, how many were right."""

    chapter: str
    section: str
    title: str
    asked: int
    committed: int
    right: int

    def __str__(self) -> str:
        right = f", {self.right} right" if self.committed else ""
        return f"{self.committed} of {self.asked} committed{right}"


def by_section(every: Iterable[Asked], state: State) -> list[Standing]:
    """The standing of each section, in the order of the book."""
    found = []
    for section, group in groupby(every, key=lambda asked: asked.section):
        some = list(group)
        found.append(standing(some, state, some[0].chapter, section, some[0].title))
    return found


def standing(some: Sequence[Asked], state: State, chapter: str = "", section: str = "", title: str = "") -> Standing:
    """The standing of these questions."""
    marks = [state.predictions[a.question.key].mark for a in some if a.question.key in state.predictions]
    return Standing(chapter, section, title, len(some), len(marks), marks.count("right"))


def together(sections: Sequence[Standing]) -> Standing:
    """The sum of the standings of sections, under the chapter of the first."""
    sums = (sum(getattr(one, part) for one in sections) for part in ("asked", "committed", "right"))
    return Standing(sections[0].chapter if sections else "", "", "", *sums)


def by_topic(sections: Sequence[Standing]) -> list[Standing]:
    """The standing of each topic, in their order. A section counts for every topic that it belongs to, as where one is
    named (parts.py): the sum of the topics may be more than all predictions."""
    found = []
    for topic, title in TITLES.items():
        some = [one for one in sections if topic in OF_SECTION.get(one.section, ())]
        if some:
            found.append(replace(together(some), title=title))
    return found
