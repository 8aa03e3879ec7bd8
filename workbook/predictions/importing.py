"""How are the predictions of a file added to the reader's record?"""

from __future__ import annotations

from pathlib import Path

from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError
from workbook.exercises.desk import tell
from workbook.exercises.say import command, count, say
from workbook.predictions.question import Unanswerable
from workbook.predictions.record import add


def import_record(root: Path, path: Path) -> int:
    """Add the predictions of a file that a page exported, or of another record."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ExerciseError(
            f"{path} cannot be read: {error.strerror}\n  it is the file that a page exported"
        ) from error
    try:
        other = states.parse(content)
    except states.DamagedState as error:
        raise ExerciseError(
            f"{path} was not imported: {error}\n  accepted: a file that a page of the book exported, or a progress.json"
        ) from error
    if not other.writable:
        raise ExerciseError(
            f"{path} was not imported: it was written by a newer workbook\n  to get the newer one: git pull"
        )
    try:
        new, state = add(root, other)
    except Unanswerable as error:
        accepted = "what a page of the book exported"
        raise ExerciseError(f"{path} was not imported: {error}\n  accepted: {accepted}") from error
    is_kept = state.saved and state.writable
    if is_kept:
        say(f"{count(new, 'prediction')} added, {len(other.predictions)} in the file. "
            f"What was on record before stays. To see them: {command('progress')}")  # fmt: skip
    tell(state)
    return 0 if is_kept else 1
