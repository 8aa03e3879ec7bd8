"""Is every exercise as it should be: well formed, its stub not started, its solution passed, wrong answers refused?"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from glasstorch.devices import runtime
from workbook.exercises.catalogue import Exercise, exercises
from workbook.exercises.dev import idle_problems, manifest_problems, rung_problems, stale_manifest
from workbook.exercises.fault import plant, read_fault
from workbook.exercises.form import form_problems
from workbook.exercises.process import environment, python
from workbook.exercises.wrong import refused_by, written_out

ROOT = Path(__file__).parents[2]
EXERCISES = exercises(ROOT)
SMALL_PROGRAMS = "tests/programs/test_small_programs.py"
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.identity)


@pytest.fixture(autouse=True)
def compiled(request: pytest.FixtureRequest, require: Callable[[str], Any]) -> Iterator[None]:
    """Skips an exercise in CUDA C++ where there is no compiler; afterwards no simulated device is left on."""
    callspec = getattr(request.node, "callspec", None)
    exercise = callspec.params["exercise"] if callspec else None
    if exercise and "use_simulator" in exercise.check.read_text(encoding="utf-8"):
        require("g++")
    yield
    runtime.use_driver(None)


@each
def test_it_is_well_formed(exercise: Exercise) -> None:
    assert form_problems(ROOT, exercise, EXERCISES) == []


@each
def test_every_assertion_of_its_check_is_needed(exercise: Exercise) -> None:
    # each assertion is removed in turn; without it at least one wrong answer passes that the whole check refuses
    if "outside_device" not in exercise.check.read_text(encoding="utf-8"):
        assert idle_problems(exercise) == []
        return
    # its check brings a device, which stays in the process for good
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(idle_problems, exercise).result() == []


def one_that_the_check_refuses_and_all_others(wrong: list[Path]) -> list[Path]:
    """Some wrong answers: most are refused by the check, which the test above asks about each of them."""
    refused = [path for path in wrong if refused_by(path) == "check"]
    return refused[:1] + [path for path in wrong if path not in refused]


@pytest.mark.ci  # each answer in processes of its own
@each
def test_its_rungs_judge_stub_solution_and_some_wrong_answers_as_they_should(exercise: Exercise) -> None:
    some = one_that_the_check_refuses_and_all_others
    assert rung_problems(ROOT, exercise, workers=1, chosen=some) == []  # other tests run meanwhile


@pytest.mark.slow  # five hundred answers
@each
def test_its_rungs_judge_every_wrong_answer_as_they_should(exercise: Exercise) -> None:
    assert rung_problems(ROOT, exercise) == []


@pytest.mark.ci  # a copy of the library for each
@pytest.mark.parametrize("exercise", [e for e in EXERCISES if e.is_repair], ids=lambda exercise: exercise.identity)
def test_a_repair_carries_a_test_that_fails_with_its_fault(exercise: Exercise, tmp_path: Path) -> None:
    plant(read_fault(exercise), tmp_path)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {tmp_path}\n", encoding="utf-8")
    assert SMALL_PROGRAMS in exercise.tests
    command = python("-m", "pytest", "-c", str(tmp_path / "pytest.ini"), "-p", "no:cacheprovider", "-q", "--tb=no")
    command += ["--import-mode=importlib", str(ROOT / SMALL_PROGRAMS)]
    done = subprocess.run(
        command, env=environment(ROOT, tmp_path, tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert " passed" in done.stdout


@each
def test_the_manifest_knows_its_files(exercise: Exercise) -> None:
    assert manifest_problems(ROOT, exercise) == []


def test_the_manifest_knows_nothing_else() -> None:
    assert stale_manifest(ROOT) == ""


def test_there_are_three_exercises_at_least_for_each_chapter_that_has_any() -> None:
    chapters = [exercise.chapter for exercise in EXERCISES]
    assert {chapter: chapters.count(chapter) for chapter in chapters if chapters.count(chapter) < 3} == {}


@each
def test_it_stands_after_what_it_needs(exercise: Exercise) -> None:
    # in the order of the exercises, and in that of the sections that lead to them
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    place = {other.identity: navigation.index(f"- {other.section}.md") for other in EXERCISES}
    mine = numbers(exercise.identity)
    late = [need for need in exercise.needs if place[need] > place[exercise.identity] or numbers(need) >= mine]
    assert late == []


def numbers(identity: str) -> tuple[int, ...]:
    """04.10 comes after 04.9."""
    return tuple(map(int, identity.split(".")))


def test_in_at_least_two_exercises_only_the_graft_catches_a_wrong_answer() -> None:
    caught = set()
    for exercise in EXERCISES:
        with written_out(exercise) as wrong:
            caught |= {exercise.identity for path in wrong if refused_by(path) == "graft"}
    assert len(caught) >= 2
