"""Which notebooks does a reader work on?

Copies of the book's executed ones, in a folder that git ignores: whatever a reader changes, `git pull` meets no
conflict. In a copy a prediction has no output yet, and its answer is folded.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbook.book.project import CHAPTERS
from workbook.exercises.sheet import unanswered
from workbook.exercises.state import digest, replace_file

FOLDER = "notebooks"
MADE = ".made.json"  # the hash of each copy as it was made: a copy with another hash is the reader's
SECTION = re.compile(r"\d\d-[\w-]+/[\w-]+")
LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)\s#]+)")


class Refreshed(NamedTuple):
    """What became of the copies."""

    made: list[str]  # new, or made again because the book has changed and the reader had not touched them
    older: list[str]  # the reader's, of an older book


def refresh(root: Path) -> Refreshed:
    """Make the copies that are missing, and make again those that are out of date and untouched."""
    made, older = [], []
    folder = root / FOLDER
    ledger = read_ledger(folder / MADE)
    before = dict(ledger)
    for section, original in originals(root):
        copy = folder / f"{section}.ipynb"
        content = for_reader(original, section, root)
        wanted = hashlib.sha256(content).hexdigest()
        there = digest(copy)  # empty where there is none
        if not there or (there != wanted and there == ledger.get(section)):
            copy.parent.mkdir(parents=True, exist_ok=True)
            replace_file(copy, content)
            made.append(section)
        elif there != wanted and wanted != ledger.get(section):
            older.append(section)
            continue
        ledger[section] = wanted
    if ledger != before:
        replace_file(folder / MADE, (json.dumps(ledger, indent=1, sort_keys=True) + "\n").encode())
    return Refreshed(made, older)


def read_ledger(path: Path) -> dict[str, str]:
    """The hashes of the copies as they were made. Without them every copy counts as the reader's."""
    try:
        ledger = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(name): str(made) for name, made in ledger.items()} if isinstance(ledger, dict) else {}


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
        section = place.with_suffix("").as_posix()
        is_copied = SECTION.fullmatch(section) and path.with_suffix(".ipynb").is_file()
        return root / FOLDER / f"{section}.ipynb" if is_copied else None
    return root / FOLDER / place if (root / FOLDER / place).is_dir() else None


def for_reader(original: Path, section: str, root: Path) -> bytes:
    """The notebook without the outputs of its predictions, with links that lead on from the copy."""
    content = unanswered(original.read_bytes())
    try:
        notebook = json.loads(content)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
                cell["source"] = LINK.sub(lambda link: moved(link[1], section, root), source)
    except (ValueError, KeyError, TypeError):
        return content
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def moved(link: str, section: str, root: Path) -> str:
    """The link of a section as it reads in the copy: to another copy where there is one, or else into the book."""
    chapter = posixpath.dirname(section)
    target = posixpath.normpath(posixpath.join(chapter, link))
    other, ending = os.path.splitext(target)
    if ending == ".md" and SECTION.fullmatch(other) and (root / CHAPTERS / f"{other}.ipynb").is_file():
        return posixpath.relpath(f"{other}.ipynb", chapter)
    if not (root / CHAPTERS / target).exists():
        return link  # no link of the book: code that only looks like one
    return posixpath.relpath(posixpath.join(CHAPTERS, target), posixpath.join(FOLDER, chapter))
