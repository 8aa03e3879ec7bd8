"""How does a program, or a lab sheet, run on the library with the fault of a repair?

    python -P -m workbook.exercises.repair PROGRAM

runs a program on the library that is on the path, with the function of the answer.py beside it in its place there.
Neither the fault nor its place is looked up: what counts is what answer.py says.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from workbook.book.project import shown
from workbook.exercises.answer_file import LIBRARY, MODULE, Refused
from workbook.exercises.catalogue import MENDED, Exercise, ExerciseError, Piece
from workbook.exercises.difference import DifferenceError
from workbook.exercises.fault import OURS, Fault, Stated, function_at, module_of, plant, read_fault, stated
from workbook.exercises.graft import Graft
from workbook.exercises.process import python
from workbook.exercises.say import command

MADE = "made-from.txt"
HERE = Path(__file__).resolve().parents[2]  # the clone that this belongs to


def make_copy(exercise: Exercise) -> bool:
    """Make the reader's copy of the library with the fault; returns False if it is there already."""
    if exercise.faulty.exists():
        return False
    fault = read_fault(exercise)
    part = exercise.faulty.with_name(f"{exercise.faulty.name}.{os.getpid()}.part")
    try:
        plant(fault, part)
        (part / MADE).write_text(made_from(fault), encoding="utf-8")
        part.rename(exercise.faulty)
    except OSError as error:
        raise ExerciseError(
            f"{shown(exercise.faulty)} could not be made: {error.strerror or error}\n"
            f"  make room, and try again: {command(f'faulty {exercise.identity}')}"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)  # a copy that was broken off is none
    return True


def is_old(exercise: Exercise) -> bool:
    """Whether the file with the fault has changed since the reader's copy was made, for example by a `git pull`.

    The lines of the copy are not those that a check counts then.
    """
    made = exercise.faulty / MADE
    return made.is_file() and made.read_text(encoding="utf-8") != made_from(read_fault(exercise))


def made_from(fault: Fault) -> str:
    """What is kept beside a copy: a hash of the file with the fault, which names no file."""
    return hashlib.sha256(fault.text.encode()).hexdigest() + "\n"


def run(exercise: Exercise, program: Path | None, *, mended: bool) -> int:
    """Run a program on the reader's copy, by default the one that fails. Returns its exit code."""
    make_copy(exercise)
    program = exercise.symptom if program is None else program
    if not program.is_file():
        raise ExerciseError(f"there is no file {program}\n  name a program, or none: then {exercise.symptom.name} runs")
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join([str(exercise.faulty), str(HERE)])
    start = ["-m", "workbook.exercises.repair", str(program.resolve())] if mended else [str(program.resolve())]
    return subprocess.call(python(*start), env={**kept, "PYTHONPATH": path}, cwd=exercise.folder)


# --- in the process with the library ---


def library() -> ModuleType:
    """The library with the fault, and in it the function of the answer.py in this folder, if it says where it belongs.

    It has to be called before glasstorch is imported. When `mended` is edited, it is used as soon as `answer` is
    reloaded; when FILE or LINE is edited, the kernel has to be restarted.
    """
    if Path("faulty").is_dir():  # the reader's own copy; in a check it is on the path already
        sys.path.insert(0, str(Path("faulty").resolve()))
    spec = find_spec(LIBRARY)
    folder = Path(spec.origin).parent if spec is not None and spec.origin is not None else OURS
    if folder == OURS or LIBRARY in sys.modules:
        why = "is imported already" if LIBRARY in sys.modules else f"would be imported from {folder}"
        raise ExerciseError(
            f"{LIBRARY} {why}, and not from the copy with the fault\n"
            f"  {command('start')} makes the copy in faulty/; then restart the kernel, and call library() first"
        )
    try:
        said = stated(Path("answer.py").resolve())
    except Refused as error:
        raise ExerciseError(f"answer.py cannot be used: {error.refusal.came}") from None
    if not (said.file and said.written):
        return importlib.import_module(LIBRARY)
    graft = Graft([piece_of(said, folder)], Path("answer.py").resolve())
    graft.install()
    graft.load()
    sys.path.insert(0, os.getcwd())
    graft.complete(importlib.import_module(MODULE))
    return importlib.import_module(LIBRARY)


def piece_of(said: Stated, folder: Path) -> Piece:
    """The mended function, as a piece that takes the place of the function at the stated line."""
    try:
        tree = ast.parse((folder / said.file).read_text(encoding="utf-8"))
        name, _ = function_at(tree, said.line)
    except (OSError, SyntaxError, DifferenceError) as error:
        raise ExerciseError(
            f"answer.py says FILE = {said.file!r}, LINE = {said.line}: there is no function of {LIBRARY}\n  {error}"
        ) from error
    return Piece("function", f"{module_of(said.file)}:{name}", MENDED)


if __name__ == "__main__":
    try:
        library()
    except ExerciseError as problem:
        sys.exit(f"workbook: {problem}")
    runpy.run_path(sys.argv[1], run_name="__main__")
