"""How does the page of an exercise read, write and check the reader's answer?

It is the same `answer.py`, the same record and the same check as in the terminal: the page shows what the command
prints. What stands on disk is never lost: a text that was made from an older one is refused, and written over the file
only after a copy of that was kept. So is a file that the page could not show as it is, because it is not UTF-8.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, ExerciseError, UnknownExercise, find
from workbook.exercises.desk import begin, keep, known
from workbook.exercises.state import State
from workbook.predictions.pages import Answer, refused

COLUMNS = 76  # of what a check prints
LARGEST = 1 << 20  # bytes of an answer.py, as workbook/exercises/rungs.py takes it


def overview(root: Path) -> Answer:
    """How each exercise stands."""
    state = states.load(root)
    standings = {exercise.identity: state.standing(exercise) for exercise in known(root, state)}
    return HTTPStatus.OK, {"standings": standings, "said": state.said}


def shown(root: Path, name: str) -> Answer:
    """The reader's answer to an exercise, and how it stands."""
    try:
        return HTTPStatus.OK, facts(root, find(root, name), states.load(root))
    except ExerciseError as error:
        return refusal(error)


def start(root: Path, name: str) -> Answer:
    """Make the reader's files, unless they are there."""
    try:
        exercise = find(root, name)
        begin(exercise)
        return HTTPStatus.OK, facts(root, exercise, states.note(root, exercise, states.begun))
    except ExerciseError as error:
        return refusal(error)


def save(root: Path, name: str, body: bytes) -> Answer:
    """Write the answer: `text`, made from the text whose `version` the page was told.

    Where the file has changed since, nothing is written, unless `anyway` is set: then a copy of the file is kept. Where
    the text is the one that the page was given, the file is left alone, with its line endings.
    """
    try:
        table = json.loads(body)
        text, version, anyway = table["text"], table["version"], table.get("anyway", False)
        content = text.encode()
    except (ValueError, TypeError, KeyError, AttributeError):
        return refused(HTTPStatus.BAD_REQUEST, "The request is not an object with `text` and `version`.")
    if len(content) > LARGEST:
        return refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The answer is larger than {LARGEST >> 20} MiB.")
    kept = None
    try:
        exercise = find(root, name)
        there = states.digest(exercise.answer)
        if there != version and exercise.answer.is_file():
            if not anyway:
                why = f"{exercise.place}/answer.py was changed outside of this page. Nothing was written."
                return HTTPStatus.CONFLICT, facts(root, exercise, states.load(root)) | {"error": why}
            kept = keep(exercise, exercise.answer)
        if text != text_of(exercise):
            if kept is None and not is_text(exercise.answer):
                kept = keep(exercise, exercise.answer)
            states.replace_file(exercise.answer, content)
    except ExerciseError as error:
        return refusal(error)
    except OSError as error:
        why = f"answer.py could not be written: {error.strerror}. The file is as it was; your text is on this page."
        return refused(HTTPStatus.INSUFFICIENT_STORAGE, why)
    told = facts(root, exercise, states.note(root, exercise, states.begun))
    return HTTPStatus.OK, told | ({"kept": kept.relative_to(root).as_posix()} if kept else {})


def hint(root: Path, name: str, body: bytes) -> Answer:
    """Record that the hint with this `number` was opened, as `workbook hint` does."""
    try:
        exercise = find(root, name)
        number = json.loads(body)["number"]
        if number not in range(1, len(exercise.hints()) + 1):
            raise ValueError
    except ExerciseError as error:
        return refusal(error)
    except (ValueError, TypeError, KeyError):
        return refused(HTTPStatus.BAD_REQUEST, "`number` is not that of a hint.")
    return HTTPStatus.OK, facts(root, exercise, states.note(root, exercise, states.hinted(number)))


def facts(root: Path, exercise: Exercise, state: State) -> dict[str, Any]:
    """What the page of an exercise is told."""
    return {
        "identity": exercise.identity, "place": f"{exercise.place}/answer.py", "standing": state.standing(exercise),
        "text": text_of(exercise), "version": states.digest(exercise.answer), "said": state.said,
    }  # fmt: skip


def text_of(exercise: Exercise) -> str | None:
    """The answer as the page shows it; None where there is none."""
    if not exercise.answer.is_file():
        return None
    return exercise.answer.read_text(encoding="utf-8", errors="replace")


def is_text(path: Path) -> bool:
    """Whether a file is UTF-8, or not there."""
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    except FileNotFoundError:
        pass
    return True


def refusal(error: ExerciseError) -> Answer:
    """What an error of the terminal's commands is on the page."""
    status = HTTPStatus.NOT_FOUND if isinstance(error, UnknownExercise) else HTTPStatus.INTERNAL_SERVER_ERROR
    return refused(status, str(error))


def check_command(root: Path, name: str) -> tuple[list[str], Mapping[str, str]]:
    """The command that checks an answer as the terminal does, and its environment."""
    ours = [str(root), str(root / "reference"), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {"PYTHONPATH": os.pathsep.join(ours), "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    return [sys.executable, "-m", "workbook", "check", name], {**os.environ, **settings}
