"""What does `workbook progress` print, and what does its file contain?

The real command, run on a copy of the exercises in which some have been done: the page cannot say what the command
does not.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from workbook.book.project import CHAPTERS, LABS
from workbook.book.render import fence
from workbook.exercises import state as states
from workbook.exercises.catalogue import SOLUTIONS, exercises
from workbook.exercises.labs import READERS
from workbook.exercises.overview import progress
from workbook.exercises.say import program
from workbook.exercises.state import Card, Prediction, Record, State
from workbook.predictions.questions import questions
from workbook.review.interview import key_of

PLAIN = {"COLUMNS": "80", "NO_COLOR": "1"}  # as it is the same in every terminal
FIRST_DAY, SECOND_DAY, TODAY = "2026-11-02", "2026-11-03", "2026-11-05"
QUESTION = "What is the difference between a tensor and its storage?"
ASKED_IN = "02-tensor-storage/one-buffer-many-views.md"
STRIDES = ["(4, 1)", "(1, 4)"]
PREDICTIONS = [
    {"question": f"Which strides has the {name}?", "kind": "choice", "choices": STRIDES, "value": value}
    for name, value in (("board", "(4, 1)"), ("transposed board", "(1, 4)"), ("copied board", "(4, 1)"))
]


def progress_output(root: Path) -> str:
    """What the command prints for a reader who has passed two exercises, changed one since, and begun a third."""
    with worked_on(root) as clone, patch.dict(os.environ, PLAIN), redirect_stdout(io.StringIO()) as printed:
        with patch.object(states, "today", lambda: TODAY):
            progress(clone, None, as_json=False)
    return fence(printed.getvalue().replace(program(), "workbook"), ".text .no-copy")


def progress_file(root: Path) -> str:
    """The progress file of the same reader."""
    with worked_on(root) as clone:
        text = (clone / LABS / states.FILE).read_text(encoding="utf-8")
    return fence(text, ".json .no-copy")


@contextmanager
def worked_on(root: Path) -> Iterator[Path]:
    """A copy of the exercises without any answers, then with those of our example reader."""
    with tempfile.TemporaryDirectory(prefix="glasstorch-progress-") as temporary:
        clone = Path(temporary)
        others = shutil.ignore_patterns(*READERS, SOLUTIONS, f"{states.FILE}*")
        shutil.copytree(root / LABS, clone / LABS, ignore=others)
        state = State()
        begun = exercises(clone)[:3]
        for exercise in begun:
            shutil.copyfile(exercise.start, exercise.answer)
        same = states.digest(begun[0].answer)
        records = (
            Record(FIRST_DAY, SECOND_DAY, same, hints=1),
            Record(SECOND_DAY, SECOND_DAY, same[::-1], hints=3, solution=SECOND_DAY),
            Record(SECOND_DAY),
        )
        state.records = {states.key(exercise): record for exercise, record in zip(begun, records, strict=False)}
        state.last = states.key(begun[-1])
        state.cards = {key_of(QUESTION): Card(TODAY, SECOND_DAY, stability=2.3065, difficulty=2.118103970459016)}
        ask(clone)
        first, second, _ = questions(clone)
        state.predictions = {
            first.question.key: Prediction(first.section, first.question.expected, "right", FIRST_DAY),
            second.question.key: Prediction(second.section, (STRIDES[0],), "wrong", FIRST_DAY),
        }
        states.write(clone, state)
        yield clone


def ask(clone: Path) -> None:
    """Give the copy a book that asks the question of the card, and those of the predictions."""
    section = clone / CHAPTERS / ASKED_IN
    section.parent.mkdir(parents=True)
    section.write_text(f"# Title\n\n*Lead.*\n\n> [!QUESTION]- {QUESTION}\n> Answer.\n", encoding="utf-8")
    cells = [{"cell_type": "code", "source": "", "outputs": [], "metadata": {"prediction": one}} for one in PREDICTIONS]
    section.with_suffix(".ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (clone / "mkdocs.yml").write_text(f"nav:\n  - {ASKED_IN}\n", encoding="utf-8")
