"""Which wrong answers does an exercise ship, and how is each stored as its difference from the solution?

`wrong_NAME.diff` begins with the wrong answer's docstring: what the mistake is, and the line `Refused by: RUNG`. Below
it stands a unified diff from solution.py. The whole answer is the solution with this docstring and these changes. An
answer is stored whole, as `wrong_NAME.py`, if its diff would have more lines than the answer itself.
"""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbook.exercises.catalogue import Exercise, ExerciseError, from_top, read_text
from workbook.exercises.difference import DifferenceError, applied, hunks, moved, unified

WHOLE, DIFF = ".py", ".diff"
NAME = re.compile(r"[a-z0-9_]+")
REFUSED_BY = re.compile(r"^Refused by: (\w+)$", re.MULTILINE)
TO_FILL_IN = "What the mistake is, in one sentence.\n\nRefused by: check\n"


@contextmanager
def written_out(exercise: Exercise) -> Iterator[list[Path]]:
    """The wrong answers of an exercise as whole files in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="glasstorch-wrong-") as temporary:
        found = []
        for path in exercise.wrong_answers():
            file = Path(temporary) / path.with_suffix(WHOLE).name
            file.write_text(whole(exercise, path), encoding="utf-8")
            found.append(file)
        yield found


def whole(exercise: Exercise, path: Path, *, lines_may_have_moved: bool = False) -> str:
    """The text of the whole wrong answer that is stored at `path`."""
    if path.suffix == WHOLE:
        return read_text(path)
    docstring, at, diff = read_text(path).partition(f"\n--- {exercise.solution.name}\n")
    solution = read_text(exercise.solution)
    try:
        changes = hunks(at[1:] + diff)
        if lines_may_have_moved:
            changes = moved(solution, changes, exercise.solution.name)
        text = applied(solution, changes, exercise.solution.name)
    except DifferenceError as error:
        raise ExerciseError(
            f"{from_top(path)}: {error}\n"
            f"  `workbook dev wrong {exercise.identity}` renumbers hunks whose lines have moved. If lines\n"
            f"  have changed, edit the hunk; or write the whole answer to {path.stem}{WHOLE} and run that command"
        ) from error
    return with_docstring(parts(text, path)[1], docstring)


def stored(exercise: Exercise, name: str, text: str) -> tuple[Path, str]:
    """The path at which a whole wrong answer is stored, and the stored text."""
    file = exercise.solutions / f"{name}{WHOLE}"
    solution = read_text(exercise.solution)
    docstring, code = parts(text, file)
    ours = with_docstring(code, parts(solution, exercise.solution)[0])
    diff = unified(solution, ours, exercise.solution.name, file.name)
    difference = f"{docstring}\n{diff}"
    if not diff or difference.count("\n") > text.count("\n"):
        return file, text
    return file.with_suffix(DIFF), difference


def with_docstring(code: str, docstring: str) -> str:
    """A module of this code with this docstring."""
    return f'"""{docstring}"""\n{code}'


def parts(text: str, path: Path) -> tuple[str, str]:
    """The docstring of a module, as written between its quotes, and the code below it."""
    body = ast.parse(text, str(path)).body
    if not (body and isinstance(body[0], ast.Expr) and text.startswith('"""')):
        return "", text
    lines = text.splitlines(keepends=True)
    end = body[0].end_lineno
    return "".join(lines[:end]).strip()[3:-3], "".join(lines[end:])


def refused_by(path: Path) -> str:
    """The rung that must refuse a whole wrong answer, according to itself; empty if it does not say."""
    return said_rung(parts(read_text(path), path)[0])


def said_rung(docstring: str) -> str:
    """The rung after `Refused by: `."""
    said = REFUSED_BY.search(docstring)
    return said[1] if said else ""


# --- `workbook dev wrong` ---


def write_out(exercise: Exercise, name: str) -> Path:
    """Write one wrong answer as a whole file beside the solution, for editing; a new one begins as the solution."""
    name = name.removeprefix("wrong_")
    if not NAME.fullmatch(name):
        raise ExerciseError(
            f"{name!r} cannot be the name of a wrong answer\n  accepted: a-z, 0-9 and _, as in size_zero"
        )
    file = exercise.solutions / f"wrong_{name}{WHOLE}"
    if file.exists():
        raise ExerciseError(
            f"{from_top(file)} is there already\n  edit it, then `workbook dev wrong {exercise.identity}`"
        )
    diff = file.with_suffix(DIFF)
    text = (
        whole(exercise, diff)
        if diff.exists()
        else with_docstring(parts(read_text(exercise.solution), file)[1], TO_FILL_IN)
    )
    file.write_text(text, encoding="utf-8")
    return file


def store(exercise: Exercise) -> tuple[list[Path], list[str]]:
    """Store every wrong answer as a diff; a whole file takes precedence over a diff of the same name.

    Returns the files that were written, and what is wrong with those that could not be read.
    """
    changed, problems = [], []
    for path in exercise.wrong_answers():
        if path.suffix == DIFF and path.with_suffix(WHOLE).exists():
            continue
        try:
            place, text = stored(exercise, path.stem, whole(exercise, path, lines_may_have_moved=True))
        except ExerciseError as error:
            problems.append(str(error))
            continue
        if not place.exists() or read_text(place) != text:
            place.write_text(text, encoding="utf-8")
            changed.append(place)
        place.with_suffix(WHOLE if place.suffix == DIFF else DIFF).unlink(missing_ok=True)
    return changed, problems
