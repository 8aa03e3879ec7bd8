"""Which notebooks does a reader work on?

Copies of the book's executed ones, in a folder that git ignores: whatever a reader changes, `git pull` meets no
conflict. In a copy a prediction has no output yet, and its answer is folded. Running and saving it leaves a copy as
untouched as it was; only the text of its cells makes it the reader's.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from workbook.book.project import CHAPTERS, shown
from workbook.exercises.catalogue import FOLDER as EXERCISES
from workbook.exercises.catalogue import ExerciseError, survey
from workbook.exercises.sheet import unanswered
from workbook.exercises.state import replace_file
from workbook.predictions.questions import text_of

FOLDER = "notebooks"
MADE = ".made.json"  # a hash of each copy's text as it was made: a copy with another text is the reader's
SECTION = re.compile(r"\d\d-[\w-]+/[\w-]+")
LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)\s#]+)")


class Refreshed(NamedTuple):
    """What became of the copies, by section."""

    made: list[str]  # new, or made again because the book has changed and the reader had not touched them
    older: list[str]  # the reader's, of an older book
    left: list[str]  # sentences about what could not be read


def refresh(root: Path) -> Refreshed:
    """Make the copies that are missing, and make again those that are out of date and untouched.

    The copy of a section that the book no longer has is removed if it is untouched. Raises ExerciseError where a copy
    cannot be written; those before it stay.
    """
    folder = root / FOLDER
    before = read_ledger(folder / MADE)
    ledger, done = dict(before), Refreshed([], [], [])
    every = dict(originals(root))
    tasks = {f"{EXERCISES}/{one.page}": one.start.relative_to(root).as_posix() for one in survey(root)[0]}
    try:
        for section, original in every.items():
            refresh_one(root, section, for_reader(original, section, root, tasks), ledger, done)
        for section in set(ledger) - set(every):
            if text_hash(folder / f"{section}.ipynb") == ledger.pop(section):
                (folder / f"{section}.ipynb").unlink()
    except OSError as error:
        raise ExerciseError(
            f"{shown(Path(error.filename or folder))} could not be written: {error.strerror}\n"
            f"  {shown(folder)} is the folder of your copies of the sections; it must be a folder that you can write to"
        ) from error
    finally:
        if ledger != before:
            with suppress(OSError):  # where it cannot be kept, the copies count as the reader's
                replace_file(folder / MADE, (json.dumps(ledger, indent=1, sort_keys=True) + "\n").encode())
    return done


def refresh_one(root: Path, section: str, content: bytes | None, ledger: dict[str, str], done: Refreshed) -> None:
    """Make the copy of a section if it is missing, or untouched and out of date; record what became of it."""
    copy = root / FOLDER / f"{section}.ipynb"
    if content is None:
        original = shown(root / CHAPTERS / f"{section}.ipynb")
        done.left.append(f"{original} is not a notebook any more. To get it back: `git checkout {original}`.")
        return
    wanted = hash_of(content)
    made = ledger.get(section)
    there = text_hash(copy) if os.path.lexists(copy) else made
    if not there and os.path.lexists(copy):
        done.left.append(f"{shown(copy)} cannot be read, and stays as it is.")
    elif there not in (made, wanted):
        done.older.extend([section] if made != wanted else [])
    else:
        if there != wanted or not os.path.lexists(copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            replace_file(copy, content)
            done.made.append(section)
        ledger[section] = wanted


def text_hash(path: Path) -> str:
    """The hash of a notebook's text; empty if the file cannot be read."""
    try:
        return hash_of(path.read_bytes())
    except OSError:
        return ""


def hash_of(content: bytes) -> str:
    """A hash of what a reader edits, the text of the cells: outputs and metadata change when cells run."""
    try:
        cells = [[cell["cell_type"], text_of(cell)] for cell in json.loads(content)["cells"]]
        content = json.dumps(cells).encode()
    except (ValueError, KeyError, TypeError):
        pass  # not a notebook: all of it counts
    return hashlib.sha256(content).hexdigest()


def read_ledger(path: Path) -> dict[str, str]:
    """The hashes of the copies as they were made. Without them every copy counts as the reader's."""
    try:
        ledger = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(ledger, dict):
        return {}
    return {name: made for name, made in ledger.items() if SECTION.fullmatch(name) and isinstance(made, str)}


def originals(root: Path) -> Iterator[tuple[str, Path]]:
    """Each section that has an executed notebook, and the notebook."""
    for path in sorted((root / CHAPTERS).glob("*/*.ipynb")):
        section = f"{path.parent.name}/{path.stem}"
        if SECTION.fullmatch(section):
            yield section, path


def copy_of(root: Path, path: Path) -> Path | None:
    """The copy of a section (its text or its notebook), of a chapter, or of all; None for any other path."""
    try:
        place = path.relative_to(root / CHAPTERS)
    except ValueError:
        return None
    if place.suffix in (".md", ".ipynb"):
        copy = root / FOLDER / place.with_suffix(".ipynb")
        is_section = SECTION.fullmatch(place.with_suffix("").as_posix())
        return copy if is_section and copy.is_file() else None
    return root / FOLDER / place if (root / FOLDER / place).is_dir() else None


def for_reader(original: Path, section: str, root: Path, tasks: Mapping[str, str]) -> bytes | None:
    """The notebook without the outputs of its predictions, with links that lead on; None if it is not a notebook."""
    try:
        notebook = json.loads(unanswered(original.read_bytes()))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = LINK.sub(lambda link: moved(link[1], section, root, tasks), text_of(cell))
    except (ValueError, KeyError, TypeError):
        return None
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def moved(link: str, section: str, root: Path, tasks: Mapping[str, str]) -> str:
    """The link of a section as it reads in the copy: to another copy where there is one, or else into the book.

    The page of an exercise is made for the site; in the clone its task stands in a file, which `tasks` names.
    """
    here = posixpath.join(FOLDER, posixpath.dirname(section))
    target = posixpath.normpath(posixpath.join(posixpath.dirname(section), link))
    other, ending = os.path.splitext(target)
    if ending == ".md" and SECTION.fullmatch(other) and (root / CHAPTERS / f"{other}.ipynb").is_file():
        return posixpath.relpath(posixpath.join(FOLDER, f"{other}.ipynb"), here)
    if (root / CHAPTERS / target).exists():
        return posixpath.relpath(posixpath.join(CHAPTERS, target), here)
    return posixpath.relpath(tasks[target], here) if target in tasks else link  # or code that only looks like a link
