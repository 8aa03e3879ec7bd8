"""Does a copy of a warm process judge an answer as a new process does, and end as one?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workbook.exercises.made import CHECK, FUNCTION, GOOD, make
from tests.workbook.exercises.test_process import gone
from workbook.exercises import dev
from workbook.exercises.catalogue import exercises, find
from workbook.exercises.fault import plant, read_fault
from workbook.exercises.process import Child
from workbook.exercises.report import Report
from workbook.exercises.rungs import run_check
from workbook.exercises.warm import Fork

pytestmark = pytest.mark.ci  # each answer is judged in processes of its own

ROOT = Path(__file__).parents[3]
LONG = 300.0  # seconds in which what ends has ended: the machine may be busy
STUB = "def double(number):\n    raise NotImplementedError\n"
WRONG = "def double(number):\n    return 2 * number + (number > 2)\n"
SPOILS = """
import contextlib, math, sys, glasstorch
math.pi = 3
glasstorch.Tensor.__add__ = None
glasstorch.core.geometry.contiguous_strides = None
sys.modules["workbook.exercises.asking"].expect = lambda *args, **kwargs: None
def double(number):
    return 0
"""
ENDS = "import os\ndef double(number):\n    os._exit(3)\n"
PRINTS = "def double(number):\n    print('twice', number)\n    return 0\n"
OPENS = "def double(number):\n    open('/etc/hostname', 'w')\n"
CALLS_ITSELF = """
from glasstorch.core.geometry import contiguous_strides
def double(number):
    return contiguous_strides((number,))
"""


def forked(code: str) -> Child:
    """A copy of this process that runs this code."""

    def run() -> None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 (pytest has taken the one that was there)
        exec(code, {})
        sys.stdout.flush()

    return Child(Fork(run), Path(os.devnull))


def as_judged(report: Report) -> Report:
    """A report without its times."""
    return replace(report, rungs=tuple(replace(rung, seconds=0.0) for rung in report.rungs))


def test_a_copy_ends_with_its_code_and_its_output() -> None:
    ended = forked("print('out')").wait(LONG)
    assert (ended.code, ended.output.split(), ended.timed_out) == (0, ["out"], False)
    ended = forked("import os; os._exit(7)").wait(LONG)
    assert ended.how == "ended with exit code 7"


def test_a_copy_that_fails_says_why() -> None:
    ended = forked("print(open(0).read()); 1 / 0").wait(LONG)
    assert ended.code == 1
    assert "ZeroDivisionError" in ended.output


def test_a_copy_that_does_not_end_is_ended_with_what_it_started() -> None:
    code = "import subprocess, sys, time; started = subprocess.Popen([sys.executable, '-c', 'import time;"
    code += " time.sleep(900)']); print(started.pid, flush=True); time.sleep(900)"
    child = forked(code)
    deadline = time.monotonic() + LONG
    while not child.kept and time.monotonic() < deadline:
        time.sleep(0.01)
    ended = child.wait(-LONG)
    assert (ended.timed_out, ended.code) == (True, -signal.SIGKILL)
    assert gone(int(ended.output))


def test_answers_are_judged_as_by_new_processes_and_see_nothing_of_each_other(tmp_path: Path) -> None:
    make(tmp_path, check="import glasstorch\n" + CHECK)
    exercise = find(tmp_path, "02.1")
    texts = [STUB, GOOD, SPOILS, WRONG, ENDS, PRINTS, OPENS, CALLS_ITSELF, "import torch\n", "x = (", GOOD]
    answers = [tmp_path / f"answer_{number}.py" for number in range(len(texts))]
    for answer, text in zip(answers, texts, strict=True):
        answer.write_text(text, encoding="utf-8")
    warm = dev.reports(tmp_path, exercise, answers)
    new = [run_check(tmp_path, exercise, answer, limit=LONG) for answer in answers]
    assert list(map(as_judged, warm)) == list(map(as_judged, new))
    outcomes = [report.rungs[0].outcome for report in warm]
    assert outcomes == ["not started", "passed", *["refused"] * 8, "passed"]


def test_a_library_that_cannot_be_imported_is_told_as_by_a_new_process(tmp_path: Path) -> None:
    kind, _, name, key = FUNCTION
    make(tmp_path, [(kind, "glasstorch.core.nowhere:contiguous_strides", name, key)])
    exercise = find(tmp_path, "02.1")
    answer = tmp_path / "answer.py"
    answer.write_text(GOOD, encoding="utf-8")
    (warm,) = dev.reports(tmp_path, exercise, [answer])
    assert as_judged(warm) == as_judged(run_check(tmp_path, exercise, answer, limit=LONG))


def test_a_process_that_fails_is_no_verdict(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make(tmp_path)
    exercise = find(tmp_path, "02.1")
    (tmp_path / "exercises" / "02-tensor-storage" / "01_double" / "exercise.toml").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        dev.reports(tmp_path, exercise, [tmp_path / "answer.py"])
    assert "02.1" in capfd.readouterr().err


def test_the_library_with_the_fault_of_a_repair_is_planted_once_and_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = next(one for one in exercises(ROOT) if one.is_repair)
    planted = tmp_path / "faulty"
    plant(read_fault(exercise), planted)
    before = {path: path.read_bytes() for path in planted.rglob("*.py")}
    monkeypatch.setattr("workbook.exercises.rungs.plant", lambda fault, folder: pytest.fail("planted again"))
    report = run_check(ROOT, exercise, exercise.solution, limit=LONG, planted=planted)
    assert report.passed
    assert {path: path.read_bytes() for path in planted.rglob("*.py")} == before
