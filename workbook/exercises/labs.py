"""Where does a lab sheet run while its notebook is built?

A lab sheet imports `answer`. The committed notebook shows what a right answer gives, so it is executed in a copy
of the exercise's folder in which the solution is answer.py. What a reader wrote stays where it is and is not read.
The builder of all notebooks (`workbook notebooks`) asks here.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbook.book.errors import BookError
from workbook.book.project import shown
from workbook.exercises.catalogue import Exercise, ExerciseError, read_exercise
from workbook.exercises.fault import plant, read_fault

READERS = ("answer.py", "my_lab.ipynb", "kept", "faulty", "__pycache__", ".ipynb_checkpoints")


@contextmanager
def solved(exercise: Exercise) -> Iterator[Path]:
    """A temporary copy of the exercise's folder, with the solution as its answer; in a repair with the library, too."""
    with tempfile.TemporaryDirectory(prefix="glasstorch-lab-") as temporary:
        folder = Path(temporary) / exercise.folder.name
        shutil.copytree(exercise.folder, folder, ignore=shutil.ignore_patterns(*READERS))
        shutil.copyfile(exercise.solution, folder / exercise.answer.name)
        if exercise.is_repair:
            plant(read_fault(exercise), folder / exercise.faulty.name)
        yield folder


@contextmanager
def solved_beside(source: Path) -> Iterator[Path]:
    """As `solved`, for the exercise to which this lab sheet belongs."""
    try:
        exercise = read_exercise(source.parent)
    except ExerciseError as error:
        raise BookError(str(error)) from error
    if not exercise.solution.is_file():
        raise BookError(
            f"{shown(source)}: there is no solution to run the lab sheet with\n  write {shown(exercise.solution)} first"
        )
    with solved(exercise) as folder:
        yield folder
