"""Which questions does the book ask?

They are read from the executed notebooks, as plain JSON: a command that only counts them has to start at once.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workbook.book.project import CHAPTERS
from workbook.predictions.question import Question

PREDICT, ANSWER = "predict", "answer"  # the tags of a cell that asks, and of the text below it that answers
ASK = "ask"  # the tag of the cell that asks the question of the cell below it; the builder puts it there
CHAPTER = re.compile(r"\d\d-[a-z0-9-]+")
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)

# What reading raises where a file holds something else than a notebook, or only half of one.
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError)


@dataclass(frozen=True)
class Asked:
    """A question where it stands: its section, its cell, and what the reader sees once an answer is committed."""

    section: str  # `02-tensor-storage/one-buffer-many-views`
    title: str
    question: Question
    code: str
    outputs: tuple[Mapping[str, Any], ...]
    reason: str  # Markdown
    above: tuple[str, ...]  # the code cells above it

    @property
    def chapter(self) -> str:
        """The folder of its chapter."""
        return self.section.partition("/")[0]


def questions(root: Path, chapter: str = "") -> list[Asked]:
    """The questions of the book, or of one chapter (its folder), in the order of the book's navigation."""
    found = [path for path in (root / CHAPTERS).glob("*/*.ipynb") if CHAPTER.fullmatch(path.parent.name)]
    order = navigation(root)
    places = [(path, f"{path.parent.name}/{path.stem}") for path in found if chapter in ("", path.parent.name)]
    places.sort(key=lambda place: (order.index(place[1]) if place[1] in order else len(order), place[1]))
    return [asked for path, section in places for asked in in_notebook(path, section)]


def navigation(root: Path) -> list[str]:
    """The sections in the order of the navigation, read without a YAML parser, which would take too long."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8") if (root / "mkdocs.yml").is_file() else ""
    return re.findall(r"^ +- (\d\d-[\w-]+/[\w-]+)\.md$", text, re.MULTILINE)


def in_notebook(path: Path, section: str) -> list[Asked]:
    """The questions of one executed notebook. One that cannot be read asks nothing, and standard error says so."""
    try:
        return list(asked_in(json.loads(path.read_bytes())["cells"], section))
    except OSError as error:
        tell_unreadable(path, error.strerror or type(error).__name__)
    except DAMAGED:
        tell_unreadable(path, "it is not a notebook any more")
    return []


@cache  # one command may ask for the questions more than once
def tell_unreadable(path: Path, why: str) -> None:
    """Say that a notebook cannot be read, and how to get it back."""
    from workbook.book.project import shown
    from workbook.exercises.say import command, fill

    text = shown(path.with_suffix(".md"))
    ways = f"`git checkout {shown(path)}`, or {command(f'notebooks {text}')}, which makes it again from its text"
    print(
        fill(f"workbook: {shown(path)} cannot be read: {why}. Its predictions are left out. To get it back: {ways}."),
        file=sys.stderr,
    )


def asked_in(cells: Sequence[Mapping[str, Any]], section: str) -> Iterator[Asked]:
    """The questions of the cells of a notebook."""
    title = next(filter(None, (TITLE.search(text_of(cell)) for cell in cells)), None)
    above: list[str] = []
    for place, cell in enumerate(cells):
        if (question := built(cell)) is not None:
            reason = text_of(cells[place + 1]) if is_answer(cells, place + 1) else ""
            outputs, code = tuple(cell["outputs"]), text_of(cell)
            yield Asked(section, title[1] if title else section, question, code, outputs, reason, tuple(above))
        if cell["cell_type"] == "code" and ASK not in cell["metadata"].get("tags", ()):
            above.append(text_of(cell))


def built(cell: Mapping[str, Any]) -> Question | None:
    """The question of a cell of an executed notebook, with the value of its answer."""
    told = cell["metadata"].get("prediction")
    if told is None:
        return None
    return Question(
        told["question"],
        told["kind"],
        tuple(told.get("choices", ())),
        told.get("answer", ""),
        told.get("tolerance", 0.0),
        value_in(told),
    )


def value_in(told: Mapping[str, Any]) -> object:
    """The value of an answer, which stands in the notebook as a literal."""
    import ast

    return ast.literal_eval(told["value"]) if "value" in told else None


def is_answer(cells: Sequence[Mapping[str, Any]], place: int) -> bool:
    """Whether the cell at this place is the text that answers the cell above it."""
    return place < len(cells) and ANSWER in cells[place]["metadata"].get("tags", ())


def text_of(cell: Mapping[str, Any]) -> str:
    """A cell's source, which may be stored as a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
