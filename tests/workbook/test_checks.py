"""Does `make test` fail when a step does, and still end with pytest's summary?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workbook import checks
from workbook.checks import Step, run_checks

GOOD = Step("good step", ("-c", "print('of no interest')"), "nothing")
BAD = Step("bad step", ("-c", "raise SystemExit('x.py:1: what is wrong')"), "mend it")
SUMMARY = re.compile(r"=+ (.*) in [\d.]+s( \([\d:]+\))? =+")
Output = pytest.CaptureFixture[str]

NOTEBOOK = """{
 "cells": [{"cell_type": "code", "execution_count": 1, "id": "a", "metadata": {}, "source": "print(%s)",
   "outputs": [{"name": "stdout", "output_type": "stream", "text": "1\\n"}]}],
 "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
 "nbformat": 4, "nbformat_minor": 5
}
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with one passing test, a slow one, and one notebook that is true."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "chapters").mkdir()
    conftest = Path(__file__).parents[1] / "conftest.py"
    (tmp_path / "tests" / "conftest.py").write_text(conftest.read_text(encoding="utf-8"), encoding="utf-8")
    marked = "".join(f"@pytest.mark.{mark}\ndef test_{mark}():\n    pass\n\n" for mark in ("slow", "ci"))
    (tmp_path / "tests" / "test_a.py").write_text(f"import pytest\n\ndef test_a():\n    pass\n\n{marked}")
    (tmp_path / "chapters" / "a.ipynb").write_text(NOTEBOOK % 1)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = -m 'not slow and not gpu'\n"
        "markers =\n    slow: takes long\n    gpu: a GPU\n    ci: left to CI\n"
    )
    monkeypatch.setattr(checks, "STEPS", (GOOD, GOOD))
    monkeypatch.setattr(checks, "LONGEST", GOOD)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.delenv("CI", raising=False)
    return tmp_path


def last_line(capfd: Output) -> tuple[str, str]:
    """Pytest's summary, which must be the last line printed, and all the output."""
    output = capfd.readouterr().out
    found = SUMMARY.fullmatch(output.splitlines()[-1])
    assert found, output
    return found[1], output


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where no tool may be missing."""
    monkeypatch.setenv("CI", "true")


def test_all_is_well(clone: Path, ci: None, capfd: Output) -> None:
    assert run_checks(clone, everything=False) == 0
    summary, output = last_line(capfd)
    assert summary == "2 passed"
    assert re.search(r"^good step: \d\.\d s$", output, re.MULTILINE)
    assert "of no interest" not in output
    assert "failed before" not in output
    assert "left to CI" not in output


def test_a_reader_need_not_wait_for_what_only_ci_runs(clone: Path, capfd: Output) -> None:
    (clone / "chapters" / "a.ipynb").write_text(NOTEBOOK % 2)
    assert run_checks(clone, everything=False) == 0
    summary, output = last_line(capfd)
    assert summary == "1 passed"
    assert re.search(r"^1 tests were left to CI \(.*\); `make test-all` runs them too\.$", output, re.MULTILINE)


def test_everything_includes_what_is_slow_and_what_is_left_to_ci(clone: Path, capfd: Output) -> None:
    assert run_checks(clone, everything=True) == 0
    assert last_line(capfd)[0] == "4 passed"


def test_a_failed_step_fails_the_run_and_the_tests_still_run(
    clone: Path, capfd: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "STEPS", (BAD, GOOD))
    assert run_checks(clone, everything=False) == 1
    summary, output = last_line(capfd)
    assert summary == "1 passed"
    assert "x.py:1: what is wrong\n  -> mend it" in output
    assert "Failed so far: bad step." in output
    assert "bad step: see the top of this output" in "".join(output.splitlines()[-3:])


def test_the_longest_step_runs_beside_the_others_and_is_told_after_them(
    clone: Path, capfd: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    meet = "import pathlib, time\npathlib.Path('{}').touch()\nwhile not pathlib.Path('{}').exists(): time.sleep(0.01)"
    monkeypatch.setattr(checks, "STEPS", (Step("waits", ("-c", meet.format("a", "b")), "nothing"),))
    long = Step("long", ("-c", meet.format("b", "a") + "\nraise SystemExit('it found this')"), "mend that")
    monkeypatch.setattr(checks, "LONGEST", long)
    assert run_checks(clone, everything=False) == 1
    output = last_line(capfd)[1]
    said = re.compile(
        r"^waits: .*^long: .*it found this\n  -> mend that\n\nFailed so far: long\.", re.DOTALL | re.MULTILINE
    )
    assert said.search(output)


def test_a_failed_test_fails_the_run(clone: Path, capfd: Output) -> None:
    (clone / "tests" / "test_b.py").write_text("def test_b():\n    assert False\n")
    assert run_checks(clone, everything=False) == 1
    assert last_line(capfd)[0] == "1 failed, 1 passed"


@pytest.mark.slow  # the run of everything once more
def test_a_notebook_that_is_not_true_fails_the_run_of_everything(clone: Path, capfd: Output) -> None:
    (clone / "chapters" / "a.ipynb").write_text(NOTEBOOK % 2)
    assert run_checks(clone, everything=True) == 1
    assert last_line(capfd)[0] == "1 failed, 3 passed"


def test_a_broken_test_file_does_not_hide_the_others(clone: Path, capfd: Output) -> None:
    (clone / "tests" / "test_b.py").write_text("import no_such_module\n")
    assert run_checks(clone, everything=False) == 1
    assert last_line(capfd)[0] == "1 passed, 1 error"


def test_the_steps_name_what_they_check() -> None:
    steps = (*checks.STEPS, checks.COLLECTION, checks.LONGEST)
    assert [step.name for step in steps] == ["ruff check", "ruff format", "generated code", "tests collected", "mypy"]
