"""Which part of the book does a name mean: a chapter, a topic, a section, or the chapter of an exercise?"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from workbook.book.project import CHAPTERS, LABS
from workbook.book.topics import OF_SECTION, TITLES
from workbook.exercises.catalogue import ExerciseError, UnknownExercise, named, survey
from workbook.exercises.say import command, fill
from workbook.predictions.questions import navigation

ENDINGS = (".md", ".ipynb")
FOLDERS = (f"{CHAPTERS}/", f"{LABS}/", "notebooks/")  # the last has the reader's copies of the chapters
SHORTEST = 3  # characters of a name that is offered as the nearest


def sections_called(root: Path, name: str, sections: Iterable[str], does: str) -> set[str]:
    """Those of the sections (`04-autograd/the-engine-step-by-step`) that a name stands for.

    Raises UnknownExercise where it stands for nothing in the book, with the names that are accepted, and ExerciseError
    where it stands only for sections that are not among these. `does` is what these do: "asks a prediction".
    """
    some = list(sections)
    every = list(dict.fromkeys([*navigation(root), *some]))
    wanted = plain(root, name)
    found = {section for section in every if wanted in names_of(section)} or of_exercise(root, name, every)
    if not found:
        raise UnknownExercise(unknown(name, wanted, every))
    if not found & set(some):
        where = found.pop() if len(found) == 1 else repr(name)
        accepted = f"{chapters_of(some)}, and their topics and sections" if some else f"none, as no section {does}"
        raise ExerciseError(message(f"nothing in {where} {does}", f"accepted: {accepted}"))
    return found & set(some)


def plain(root: Path, name: str) -> str:
    """A name or path as `names_of` has it: from the book's folder, without an ending, in lower case.

    >>> plain(Path("/clone"), "./notebooks/04-Autograd/"), plain(Path("/clone"), "graph.IPYNB")
    ('04-autograd', 'graph')
    """
    path, top = Path(name.strip()), root.resolve()
    if (path.is_absolute() or path.parts[:1] == ("..",)) and path.resolve().is_relative_to(top):
        path = path.resolve().relative_to(top)
    text = posixpath.normpath(str(path).replace("\\", "/")).lower()
    for folder in FOLDERS:
        text = text.removeprefix(folder)
    for ending in ENDINGS:
        text = text.removesuffix(ending)
    return text


def names_of(section: str) -> set[str]:
    """All names under which a section is found: its chapter's, its topics' and its own."""
    chapter, _, rest = section.partition("/")
    number, _, words = chapter.partition("-")
    return {number, number.lstrip("0") or "0", chapter, words, rest, section, *OF_SECTION.get(section, ())}


def of_exercise(root: Path, name: str, sections: Iterable[str]) -> set[str]:
    """The sections of the chapter of the exercise with this name; none where there is no such exercise."""
    chapters: set[str] = set()
    with suppress(ExerciseError):  # there are no exercises
        found, damaged = survey(root)
        wanted = name.strip().replace("\\", "/").rstrip("/")
        chapters = {one.chapter for one in named(found, wanted)} | {one.chapter for one in named(damaged, wanted)}
    return {section for section in sections if section.partition("/")[0] in chapters}


# --- a refusal ---


def unknown(name: str, wanted: str, sections: Iterable[str]) -> str:
    """That a name stands for nothing, and which names are accepted."""
    every = list(sections)
    return message(
        f"there is no chapter, topic, section or exercise {name!r}{near(wanted, every)}",
        f"chapters: {chapters_of(every) or 'none'}",
        f"topics: {', '.join(TITLES)}",
        f"sections: by the names of their files, such as {every[0].partition('/')[2] if every else 'how-to-read'}",
        f"exercises: {command('progress')} shows them",
    )


def message(first: str, *accepted: str) -> str:
    """What was refused and what is accepted, wrapped as it stands behind `workbook: ` on standard error."""
    lead = "workbook: "
    return "\n".join([fill(first, lead, "  ").removeprefix(lead), *(fill(line, "  ", "    ") for line in accepted)])


def chapters_of(sections: Iterable[str]) -> str:
    """The chapters of these sections."""
    return ", ".join(sorted({section.partition("/")[0] for section in sections}))


def near(wanted: str, sections: Iterable[str]) -> str:
    """The chapter, topic or section that may have been meant, as the end of a line; empty if none is near."""
    from difflib import get_close_matches

    names = {name for section in sections for name in names_of(section) if len(name) >= SHORTEST}
    close = get_close_matches(wanted, sorted(names | TITLES.keys()), n=1)
    return f"; the nearest is {close[0]!r}" if close else ""
