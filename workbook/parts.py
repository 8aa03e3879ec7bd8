"""Which part of the book does a name mean: a chapter, a topic or a section?"""

from __future__ import annotations

from collections.abc import Iterable

from workbook.book.topics import OF_SECTION, TITLES
from workbook.exercises.catalogue import UnknownExercise

ENDINGS = (".md", ".ipynb")
FOLDERS = ("chapters/", "exercises/")


def sections_called(name: str, sections: Iterable[str]) -> set[str]:
    """Those of the sections (`04-autograd/the-engine-step-by-step`) that a name stands for.

    Raises UnknownExercise where it stands for none, with the names that are accepted.
    """
    every = list(sections)
    wanted = name.strip().rstrip("/").lower()
    for folder in FOLDERS:
        wanted = wanted.removeprefix(folder)
    for ending in ENDINGS:
        wanted = wanted.removesuffix(ending)
    found = {section for section in every if wanted in names_of(section)}
    if not found:
        chapters = ", ".join(sorted({section.partition("/")[0] for section in every}))
        raise UnknownExercise(
            f"there is no chapter or topic {name!r}{near(wanted)}\n"
            f"  chapters: {chapters or 'none'}\n  topics: {', '.join(TITLES)}"
        )
    return found


def names_of(section: str) -> set[str]:
    """All names under which a section is found: its chapter's, its topics' and its own."""
    chapter, _, rest = section.partition("/")
    number, _, words = chapter.partition("-")
    return {number, number.lstrip("0") or "0", chapter, words, rest, section, *OF_SECTION.get(section, ())}


def near(wanted: str) -> str:
    """The topic that may have been meant, as the end of a line; empty if none is near."""
    from difflib import get_close_matches

    close = get_close_matches(wanted, TITLES, n=1)
    return f"; the nearest is {close[0]!r}" if close else ""
