"""Does the child process get its job whole, with options of ours only?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbook.exercises.child import Job, from_root, options, uncalled, write_refusal
from workbook.exercises.fault import Fault
from workbook.exercises.report import BROKEN, PASSED, REFUSED, Refusal, RungResult


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job of rung 3."""
    piece = {"kind": "function", "target": "a:b", "answer": "b", "key": ""}
    return Job("graft", "/clone", str(tmp_path), "check_a.py", (piece,), ("tests/a.py::test_b", "-k", "c"), 20.0, 0.0)


def test_a_job_is_read_as_it_was_written(job: Job) -> None:
    job.write()
    assert Job.read(job.file("job.json")) == job


def test_a_repair_runs_the_librarys_tests_on_the_library_with_its_fault(job: Job, tmp_path: Path) -> None:
    repair = replace(job, fault=Fault("core/device.py", "f", (1, 2), "text").as_json())
    repair.write()
    again = Job.read(repair.file("job.json"))
    assert again.fault is not None
    assert Fault.from_json(again.fault).lines == (1, 2)
    for one, library in ((job, "/clone/reference"), (repair, str(tmp_path.parent / "faulty"))):
        options(one)
        assert f"    {library}\n" in one.file("pytest.ini").read_text()


def test_the_tests_are_those_of_the_clone_and_options_stay(job: Job, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "a.py").touch()
    arguments = options(replace(job, root=str(tmp_path)))
    assert arguments[-3:] == [f"{tmp_path / 'tests' / 'a.py'}::test_b", "-k", "c"]
    assert "filterwarnings = error" in job.file("pytest.ini").read_text()
    assert from_root(tmp_path, "tests/missing.py") == "tests/missing.py"


def test_only_the_first_refusal_of_the_guard_is_kept(job: Job) -> None:
    write_refusal(job, Refusal(came="first"))
    write_refusal(job, Refusal(came="second"))
    assert '"first"' in job.file("guard.json").read_text()


@pytest.mark.parametrize(
    ("outcome", "calls", "expected"),
    [
        (PASSED, {"a": 1, "b": 2}, PASSED),
        (PASSED, {"a": 1, "b": 0}, REFUSED),
        (BROKEN, {"a": 0}, BROKEN),
        (REFUSED, {"a": 0}, REFUSED),
    ],
)
def test_a_pass_needs_every_piece_called(outcome: str, calls: dict[str, int], expected: str) -> None:
    result = uncalled(RungResult("graft", outcome, calls=calls))
    assert result.outcome == expected
    assert (result.refusal is not None) == (expected != outcome)
