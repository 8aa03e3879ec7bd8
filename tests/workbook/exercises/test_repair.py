"""Does a program run on the library with the fault, and with the function of answer.py where that says it belongs?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workbook.exercises.copies import ROOT, clone_with_repair, plain_environment
from workbook.exercises import desk, repair
from workbook.exercises.catalogue import Exercise, ExerciseError, UnknownExercise
from workbook.exercises.fault import OURS, read_fault
from workbook.exercises.report import NOT_STARTED, PASSED, REFUSED
from workbook.exercises.rungs import run_check

SHEET = "from workbook.exercises.repair import library\ntorch = library()\n"
WHERE = "print(torch.__file__)\n"
OFFSET = "print(torch.arange(8.0)[4:].view(torch.uint8).storage_offset())\n"


@pytest.fixture
def exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exercise:
    """The repair 02.4, and an exercise that is none, in a clone of its own, in which the reader stands."""
    monkeypatch.chdir(tmp_path)
    return clone_with_repair(tmp_path)


def run(exercise: Exercise, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the exercise's folder, where a lab sheet runs."""
    settings = {**plain_environment(), "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "reference")))}
    return subprocess.run(
        [sys.executable, "-c", program], cwd=exercise.folder, env=settings, capture_output=True, text=True, check=False
    )


def test_the_copy_is_made_once_and_is_the_readers_then(exercise: Exercise) -> None:
    assert repair.make_copy(exercise)
    fault = read_fault(exercise)
    file = exercise.faulty / "glasstorch" / fault.file
    assert file.read_text(encoding="utf-8") == fault.text
    file.write_text("mine")
    assert not repair.make_copy(exercise)
    assert file.read_text(encoding="utf-8") == "mine"
    assert not repair.is_old(exercise)


def test_a_copy_of_another_library_is_told(
    exercise: Exercise, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.start(Path.cwd(), "02.4")
    assert "has changed since" not in capfd.readouterr().err
    (exercise.faulty / repair.MADE).write_text("another\n")
    desk.start(Path.cwd(), "02.4")
    told = " ".join(capfd.readouterr().err.split())
    assert f"the library has changed since {exercise.place}/faulty was made" in told
    monkeypatch.setattr(repair, "run", lambda *_, **__: 0)
    desk.faulty(Path.cwd(), "02.4", None, mended=False)
    assert "delete that folder" in capfd.readouterr().err


def test_a_copy_that_cannot_be_made_is_told(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(repair, "plant", full)
    with pytest.raises(ExerciseError, match=r"faulty could not be made: No space left on device\n  make room"):
        repair.make_copy(exercise)


def test_start_makes_the_copy_and_says_how_to_see_it_fail(
    exercise: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.start(Path.cwd(), "02.4")
    assert (exercise.faulty / "glasstorch" / "__init__.py").is_file()
    text = " ".join(capsys.readouterr().out.split())
    assert f"The library with the fault: {exercise.place}/faulty" in text
    assert "faulty 02.4` runs symptom.py on the library with the fault" in text
    assert "write FILE, LINE and `mended` into your file. 4. " in text


def test_the_program_fails_on_the_copy_and_not_once_it_is_mended(
    exercise: Exercise, capfd: pytest.CaptureFixture[str]
) -> None:
    root = Path.cwd()
    desk.start(root, "02.4")
    assert desk.faulty(root, "02.4", None, mended=False) == 1
    assert "what was read is not what was saved" in capfd.readouterr().err
    assert desk.faulty(root, "02.4", None, mended=True) == 1  # the stub: there is nothing to put in
    shutil.copyfile(exercise.solution, exercise.answer)
    assert desk.faulty(root, "02.4", None, mended=True) == 0


def test_a_program_of_the_readers_own_runs_too(exercise: Exercise, capfd: pytest.CaptureFixture[str]) -> None:
    program = Path("mine.py")
    program.write_text(f"import glasstorch as torch\n{WHERE}{OFFSET}raise SystemExit(7)\n")
    assert desk.faulty(Path.cwd(), "02.4", program, mended=False) == 7
    assert capfd.readouterr().out.splitlines()[-2:] == [str(exercise.faulty / "glasstorch" / "__init__.py"), "4"]
    with pytest.raises(ExerciseError, match=r"there is no file gone\.py"):
        desk.faulty(Path.cwd(), "02.4", Path("gone.py"), mended=False)


def test_what_is_not_there_to_run_on_is_told(exercise: Exercise) -> None:
    with pytest.raises(UnknownExercise, match=r"02\.1 is not a repair: its library has no fault\n  repairs: 02\.4"):
        desk.faulty(Path.cwd(), "02.1", None, mended=False)
    with pytest.raises(ExerciseError, match=rf"there is no {exercise.place}/answer\.py"):
        desk.faulty(Path.cwd(), "02.4", None, mended=True)


def test_the_solution_says_what_the_fault_was(exercise: Exercise, capsys: pytest.CaptureFixture[str]) -> None:
    desk.start(Path.cwd(), "02.4")
    desk.solution(Path.cwd(), "02.4", anyway=True)
    text = " ".join(capsys.readouterr().out.split())
    assert f"The fault: {read_fault(exercise).about}" in text


# --- in a check ---


def outcomes(exercise: Exercise, text: str) -> list[tuple[str, str]]:
    """What each rung says of an answer, and what came out."""
    exercise.answer.write_text(text, encoding="utf-8")
    report = run_check(Path.cwd(), exercise, limit=300.0)
    return [(rung.outcome, rung.refusal.came if rung.refusal else "") for rung in report.rungs]


@pytest.mark.ci  # each answer is judged in processes of its own
def test_a_check_looks_at_the_place_first_and_then_at_the_mend(exercise: Exercise) -> None:
    ours = exercise.solution.read_text(encoding="utf-8")
    stub = exercise.start.read_text(encoding="utf-8")
    place = "\n".join(line for line in ours.splitlines() if line.startswith(("FILE", "LINE")))
    said = "answer.py does not say yet where the fault is: FILE and LINE are as in the stub"
    assert outcomes(exercise, stub)[0] == (NOT_STARTED, said)
    said = "the place is right, but `mended` is not written yet"
    assert outcomes(exercise, stub.replace('FILE = ""', "").replace("LINE = 0\n", f"{place}\n"))[0] == (REFUSED, said)
    line = place.splitlines()[1]
    said = f"FILE = 'kernels/gone.py', {line}"
    assert outcomes(exercise, ours.replace("views.py", "gone.py"))[0] == (REFUSED, said)
    repair.make_copy(exercise)
    shutil.rmtree(exercise.faulty / "glasstorch")  # the reader's copy is theirs: a check makes its own
    assert outcomes(exercise, ours) == [(PASSED, "")] * 3


# --- in a lab sheet ---


@pytest.mark.parametrize(("answer", "offset"), [("start.py", "4"), ("solution.py", "16")])
def test_a_sheet_runs_on_the_copy_with_what_is_mended(exercise: Exercise, answer: str, offset: str) -> None:
    repair.make_copy(exercise)
    shutil.copyfile((exercise.folder if answer == "start.py" else exercise.solutions) / answer, exercise.answer)
    done = run(exercise, SHEET + WHERE + OFFSET)
    assert done.stdout.splitlines() == [str(exercise.faulty / "glasstorch" / "__init__.py"), offset], done.stderr


def test_a_mended_function_finds_the_names_of_its_old_file(exercise: Exercise) -> None:
    repair.make_copy(exercise)
    text = exercise.solution.read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith("from glasstorch")]
    exercise.answer.write_text("\n".join(kept), encoding="utf-8")
    done = run(exercise, SHEET + OFFSET)
    assert done.stdout.strip() == "16", done.stderr


@pytest.mark.parametrize(
    ("before", "answer", "said"),
    [
        ("import glasstorch\n", "", "glasstorch is imported already, and not from the copy with the fault"),
        ("", "FILE = 'core/device.py'\n", "answer.py cannot be used: FILE = 'core/device.py'"),
        ("", "FILE = 'gone.py'\nLINE = 3\ndef mended():\n    return 1\n", "there is no function of glasstorch"),
        ("", "FILE = 'core/device.py'\nLINE = 1\ndef mended():\n    return 1\n", "line 1 is in no function"),
    ],
)
def test_what_keeps_a_sheet_from_running_is_told(exercise: Exercise, before: str, answer: str, said: str) -> None:
    repair.make_copy(exercise)
    exercise.answer.write_text(answer, encoding="utf-8")
    assert said in run(exercise, before + SHEET).stderr


def test_a_sheet_without_a_copy_says_so(exercise: Exercise) -> None:
    exercise.answer.touch()
    assert f"glasstorch would be imported from {OURS}" in run(exercise, SHEET).stderr
