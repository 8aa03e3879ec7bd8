"""Does `workbook dev check` say of each exercise what is to be mended, and nothing of one that is as it should be?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workbook.exercises.copies import clone_with_repair, clone_with_strides, only_wrong
from workbook import commands
from workbook.exercises import dev
from workbook.exercises.catalogue import Exercise, UnknownExercise, find
from workbook.exercises.report import Refusal, Report, RungResult
from workbook.exercises.wrong import parts, store, with_docstring

Output = pytest.CaptureFixture[str]


@pytest.fixture
def exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exercise:
    """Exercise 02.1 in a clone of its own, with the wrong answers that its assertions need, and one for the graft."""
    found = clone_with_strides(tmp_path)
    only_wrong(found, "wrong_four_dimensions", "wrong_scalar", "wrong_size_one", "wrong_size_zero")
    monkeypatch.setattr(commands, "root", lambda: tmp_path)
    return found


def test_an_exercise_that_is_as_it_should_be_takes_one_line(exercise: Exercise, capsys: Output) -> None:
    assert dev.check(["strides"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("02.1  Row-major strides")
    assert "ok, refuses 4 wrong answers" in first
    assert last == "1 of 1 exercises are as they should be."


def test_each_answer_that_is_judged_otherwise_is_told_with_what_the_rung_said(
    exercise: Exercise, capsys: Output
) -> None:
    right = exercise.solution.read_text(encoding="utf-8").replace("step = 1", "step = 2 - 1")
    said = "Right, and planted all the same.\n\nRefused by: check\n"
    planted = exercise.solutions / "wrong_not.py"
    planted.write_text(with_docstring(parts(right, planted)[1], said), encoding="utf-8")
    assert store(exercise) == ([planted.with_suffix(".diff")], [])
    scalar = exercise.solutions / "wrong_scalar.py"
    scalar.write_text(scalar.read_text(encoding="utf-8").replace("by: check", "by: graft"), encoding="utf-8")
    assert dev.check(["02.1"]) == 1
    output = capsys.readouterr().out
    assert "2 to fix" in output
    assert "    wrong_not.py: passed, and should be refused by check\n" in output
    assert (
        "    wrong_scalar.py: refused by check, and should be refused by graft\n"
        "      asked: the strides of a tensor without dimensions\n"
        "      input: contiguous_strides(())\n"
        "      got: (1,)\n"
    ) in output
    assert output.endswith("0 of 1 exercises are as they should be.\n")


def test_an_idle_assertion_is_told_with_its_line(exercise: Exercise) -> None:
    only_wrong(exercise, "wrong_four_dimensions", "wrong_scalar", "wrong_size_one")
    (problem,) = dev.idle_problems(exercise)
    lines = exercise.check.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines, 1) if "counts as if its size were 1" in line)
    assert problem.startswith(f"check_strides.py, line {number}: `expect(strides, row_major(shape), ")
    assert "is idle: every wrong answer is refused without it" in problem


def test_a_check_that_cannot_be_read_alone_is_told(exercise: Exercise) -> None:
    exercise.check.write_text("def test_x(tmp_path):\n    assert tmp_path\n", encoding="utf-8")
    (problem,) = dev.idle_problems(exercise)
    assert "test_x has to take `ask` and nothing else" in problem


def test_what_is_malformed_is_not_run(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise.hints_file.unlink()
    monkeypatch.setattr(dev, "rung_problems", lambda root, exercise: ["run all the same"])
    found = dev.problems(exercise.folder.parents[2], exercise, [exercise])
    assert found[0] == "hints.md is missing"
    assert "run all the same" not in found


@pytest.mark.parametrize(
    ("name", "outcomes", "words"),
    [
        ("start.py", ["not started"], ""),
        ("start.py", ["refused"], "start.py: refused by check, and should be not started by check"),
        ("start.py", ["passed", "not started"], "start.py: not started by lab, and should be not started by check"),
        ("solution.py", ["passed", "passed", "passed"], ""),
        ("solution.py", ["passed", "broken"], "solution.py: broken by lab, and should be passed"),
        ("wrong_x.py", ["passed", "passed", "refused"], ""),
        ("wrong_x.py", ["passed", "passed", "broken"], "broken by graft, and should be refused by graft"),
        ("wrong_x.py", ["passed", "passed", "passed"], "wrong_x.py: passed, and should be refused by graft"),
    ],
)
def test_every_judgement_is_compared(tmp_path: Path, name: str, outcomes: list[str], words: str) -> None:
    path = tmp_path / name
    path.write_text('"""Wrong.\n\nRefused by: graft\n"""\n')
    rungs = [RungResult(rung, outcome) for rung, outcome in zip(("check", "lab", "graft"), outcomes, strict=False)]
    said = dev.misjudged(path, Report("02.1", "Title", name, tuple(rungs)))
    assert (said == "") == (words == "")
    assert words in said


def test_what_a_rung_said_is_told_with_it() -> None:
    refusal = Refusal(asked="a number", came="a word")
    assert dev.details(RungResult("check", "refused", refusal=refusal)) == "\n  asked: a number\n  got: a word"
    assert dev.details(None) == ""


def test_a_name_that_no_exercise_has_is_an_error(exercise: Exercise) -> None:
    with pytest.raises(UnknownExercise, match=r"there is no exercise '2\.9'"):
        dev.check(["2.9"])


# --- the manifest ---


def test_the_manifest_is_written_once(exercise: Exercise, capsys: Output) -> None:
    (exercise.folder.parents[1] / "manifest.json").unlink()
    assert dev.manifest(check=True) == 1
    assert dev.manifest(check=False) == 0
    assert dev.manifest(check=True) == 0
    assert dev.manifest(check=False) == 0
    assert capsys.readouterr().out.splitlines() == [
        "exercises/manifest.json is missing: run `workbook dev manifest`",
        "exercises/manifest.json was written.",
        "exercises/manifest.json is up to date.",
        "exercises/manifest.json is unchanged.",
    ]


def test_a_file_that_the_manifest_does_not_know_is_told(exercise: Exercise, capsys: Output) -> None:
    root = exercise.folder.parents[2]
    assert dev.manifest_problems(root, exercise) == []
    exercise.hints_file.write_text("## Hint 1\n", encoding="utf-8")
    assert dev.manifest(check=True) == 1
    assert capsys.readouterr().out == "exercises/manifest.json is out of date: run `workbook dev manifest`\n"
    (problem,) = dev.manifest_problems(root, find(root, "02.1"))
    assert problem.startswith("hints.md: exercises/manifest.json has another hash")


@pytest.mark.parametrize("text", ["", "[1]", "{"])
def test_a_damaged_manifest_is_out_of_date(exercise: Exercise, text: str) -> None:
    root = exercise.folder.parents[2]
    (root / "exercises" / "manifest.json").write_text(text)
    assert dev.manifest(check=True) == 1
    assert len(dev.manifest_problems(root, exercise)) == 1


def test_a_stale_manifest_fails_the_check_of_all(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr(dev, "problems", lambda root, exercise, every: [])
    assert dev.check([]) == 0
    manifest = exercise.folder.parents[1] / "manifest.json"
    manifest.write_text(manifest.read_text().replace("}", ',"exercises/gone.py": ""}'))
    assert dev.check(["02.1"]) == 0
    assert dev.check([]) == 1
    assert "exercises/manifest.json is out of date" in capsys.readouterr().out


# --- a repair ---


@pytest.mark.ci  # each answer is judged in processes of its own
def test_a_repair_is_judged_on_the_library_with_its_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    repair = clone_with_repair(tmp_path)
    monkeypatch.setattr(commands, "root", lambda: tmp_path)
    assert dev.check(["02.4"]) == 0
    only_wrong(repair, "wrong_four_bytes", "wrong_another_file")
    assert dev.check(["02.4"]) == 1
    output = capsys.readouterr().out
    assert "1 to fix" in output
    assert "line 41: `expect(came, part.view(kind)" in output
    assert output.count("is idle: every wrong answer is refused without it") == 1
