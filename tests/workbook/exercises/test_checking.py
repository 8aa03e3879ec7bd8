"""Does a check show each rung at once, record what passed, and open again what does not pass any more?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workbook.exercises.tree import make_clone
from workbook.exercises import checking, desk, say
from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, ExerciseError, find
from workbook.exercises.report import NOT_STARTED, PASSED, REFUSED, RUNGS, Refusal, Report, RungResult
from workbook.exercises.state import digest, load, note

Output = pytest.CaptureFixture[str]
PLACES = ("02-tensor-storage/01_strides", "02-tensor-storage/02_view")
EDITED = "exercises/02-tensor-storage/01_strides/check_strides.py"


class Rungs:
    """Rungs that judge an answer by the one word in it; an outcome of the first rung, or `edited`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Path | None, float]] = []

    def __call__(
        self,
        root: Path,
        exercise: Exercise,
        answer: Path | None = None,
        *,
        limit: float,
        told: Callable[[RungResult], None] = lambda result: None,
    ) -> Report:
        self.asked.append((exercise.identity, answer, limit))
        word = (answer or exercise.answer).read_text().strip()
        refusal = Refusal(asked="the answer", came="7") if word == REFUSED else None
        outcome = PASSED if word == "edited" else word
        first = RungResult("check", outcome, 0.2, refusal=refusal)
        later = [RungResult(rung, PASSED if outcome == PASSED else "not run", 0.1) for rung in RUNGS[1:]]
        for result in (first, *later):
            told(result)
        edited = (EDITED,) if word == "edited" else ()
        sha256 = digest(answer or exercise.answer)
        return Report(exercise.identity, exercise.title, "answer.py", (first, *later), edited, sha256)


@pytest.fixture(autouse=True)
def rungs(monkeypatch: pytest.MonkeyPatch) -> Rungs:
    """Rungs that cost nothing; a screen of 100 columns."""
    rungs = Rungs()
    monkeypatch.setattr("workbook.exercises.rungs.run_check", rungs)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(say, "program", lambda: "workbook")
    return rungs


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with two exercises; the reader stands in it."""
    monkeypatch.chdir(tmp_path)
    return make_clone(tmp_path, *PLACES)


@pytest.fixture
def strides(clone: Path) -> Exercise:
    """The first exercise, with an answer that passes."""
    exercise = find(clone, "02.1")
    exercise.answer.write_text(PASSED)
    return exercise


def check(clone: Path, name: str | None = None, answer: Path | None = None, *, as_json: bool = False) -> int:
    """Run the command with its usual limit."""
    return checking.check(clone, name, answer=answer, limit=20, as_json=as_json)


def test_an_answer_that_passes_is_shown_rung_by_rung_and_recorded(
    clone: Path, strides: Exercise, capsys: Output
) -> None:
    assert check(clone, "02.1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "02.1  About strides    exercises/02-tensor-storage/01_strides/answer.py"
    assert [line.split("  ")[0] for line in lines[2:5]] == ["1", "2", "3"]
    assert all("passed" in line for line in lines[2:5])
    record = load(clone).of(strides)
    assert (record.passed, record.answer) == (states.today(), digest(strides.answer))


def test_an_answer_that_is_refused_is_told_and_not_recorded(clone: Path, strides: Exercise, capsys: Output) -> None:
    strides.answer.write_text(REFUSED)
    assert check(clone, "02.1") == 1
    out = capsys.readouterr().out
    assert "refused" in out
    assert "got        7" in out
    assert "hint 02.1" in out.splitlines()[-1]
    assert load(clone).of(strides) == states.Record(started=states.today())


def test_an_edited_check_does_not_count(clone: Path, strides: Exercise, capsys: Output) -> None:
    strides.answer.write_text("edited")
    assert check(clone, "02.1") == 1
    assert EDITED in capsys.readouterr().out
    assert not load(clone).of(strides).passed


@pytest.fixture
def saved(strides: Exercise, monkeypatch: pytest.MonkeyPatch, rungs: Rungs) -> None:
    """Have the reader save another answer while the check runs."""

    def slow(*arguments: object, **options: object) -> Report:
        report = rungs(*arguments, **options)  # type: ignore[arg-type]
        strides.answer.write_text("saved meanwhile")
        return report

    monkeypatch.setattr("workbook.exercises.rungs.run_check", slow)


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize("everything", [True, False])
def test_an_answer_that_changed_while_it_was_checked_did_not_pass(
    clone: Path, strides: Exercise, *, everything: bool
) -> None:
    checking.check_all(clone, 20) if everything else check(clone, "02.1")
    assert load(clone).standing(strides) == "changed"


@pytest.mark.usefixtures("saved")
def test_the_answer_that_was_refused_opens_its_exercise_whatever_was_saved_since(
    clone: Path, strides: Exercise
) -> None:
    strides.answer.write_text(REFUSED)
    note(clone, strides, states.passed(digest(strides.answer)))
    check(clone, "02.1")
    assert load(clone).standing(strides) == "started"


def test_an_exercise_that_is_not_started_is_told(clone: Path, rungs: Rungs, capsys: Output) -> None:
    assert check(clone, "02.1") == 3
    out = capsys.readouterr().out
    assert "02.1 is not started: there is no exercises/02-tensor-storage/01_strides/answer.py" in out
    assert "`workbook start 02.1`" in out
    assert rungs.asked == []


def test_a_folder_or_a_dangling_link_is_no_exercise_that_is_not_started(clone: Path, rungs: Rungs) -> None:
    exercise = find(clone, "02.1")
    for make in (exercise.answer.mkdir, lambda: exercise.answer.symlink_to("nowhere")):
        make()
        with pytest.raises(OSError, match=r"answer\.py"):  # these rungs read it; the real ones say what stands there
            check(clone, "02.1")
        note(clone, exercise, states.passed("1"))
        with pytest.raises(OSError, match=r"answer\.py"):
            checking.check_all(clone, 20)
        exercise.answer.rmdir() if exercise.answer.is_dir() else exercise.answer.unlink()
    assert len(rungs.asked) == 4


def test_a_stub_is_not_started_either(clone: Path, strides: Exercise) -> None:
    strides.answer.write_text(NOT_STARTED)
    assert check(clone, "02.1") == 3


def test_without_a_name_the_one_being_worked_on_is_checked(clone: Path, strides: Exercise, rungs: Rungs) -> None:
    check(clone, "02.1")
    desk.start(clone, "02.2")
    find(clone, "02.2").answer.write_text(REFUSED)
    check(clone)
    assert [name for name, _, _ in rungs.asked] == ["02.1", "02.2"]


def test_another_file_is_checked_and_nothing_recorded(
    clone: Path, rungs: Rungs, tmp_path: Path, capsys: Output
) -> None:
    other = tmp_path / "ada.py"
    other.write_text(PASSED)
    assert check(clone, "02.1", Path("ada.py")) == 0
    assert rungs.asked == [("02.1", other.resolve(), 20)]
    assert "ada.py" in capsys.readouterr().out
    assert not (clone / "exercises" / "progress.json").exists()
    assert check(clone, "02.1", other, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["identity"] == "02.1"
    with pytest.raises(ExerciseError, match=r"there is no file nobody\.py"):
        check(clone, "02.1", Path("nobody.py"))


def test_of_another_file_the_same_file_is_to_be_checked_again(clone: Path, tmp_path: Path, capsys: Output) -> None:
    other = tmp_path / "ada lovelace.py"
    other.write_text(REFUSED)
    assert check(clone, "02.1", Path("ada lovelace.py")) == 1
    again = "`workbook check 02.1 --answer 'ada lovelace.py'`"
    assert f"py, then {again} again." in " ".join(capsys.readouterr().out.split())


def test_after_a_pass_of_another_file_nothing_is_advised(clone: Path, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "ada.py").write_text(PASSED)
    assert check(clone, "02.1", Path("ada.py")) == 0
    out = capsys.readouterr().out
    assert out.endswith("\nIt passes. This is not recorded, because the file was named with --answer.\n")
    assert "Compare" not in out


def test_there_is_nothing_to_compare_with_where_the_solutions_are_gone(
    clone: Path, strides: Exercise, capsys: Output
) -> None:
    check(clone, "02.1")
    assert "Done. Compare with ours: `workbook solution 02.1`. Go on: `workbook next`." in capsys.readouterr().out
    strides.solution.unlink()
    check(clone, "02.1")
    assert "\nDone. Go on: `workbook next`.\n" in capsys.readouterr().out


def test_an_edited_file_comes_back_with_git_only_where_git_is(clone: Path, strides: Exercise, capsys: Output) -> None:
    strides.answer.write_text("edited")
    check(clone, "02.1")
    assert f"`git checkout -- {EDITED}`" in capsys.readouterr().out
    (clone / ".git").rmdir()
    check(clone, "02.1")
    out = " ".join(capsys.readouterr().out.split())
    assert "To restore it: take it from a new copy of the repository" in out
    assert "git checkout" not in out


def test_the_report_for_scripts_is_all_that_is_printed(clone: Path, strides: Exercise, capsys: Output) -> None:
    assert check(clone, "02.1", as_json=True) == 0
    assert Report.from_json(capsys.readouterr().out).passed
    assert load(clone).of(strides).passed


def test_the_last_exercise_says_that_all_have_passed(clone: Path, strides: Exercise, capsys: Output) -> None:
    check(clone, "02.1")
    assert "All 2" not in capsys.readouterr().out
    find(clone, "02.2").answer.write_text(PASSED)
    check(clone, "02.2")
    assert "All 2 exercises have passed. To see that they still do: `workbook check --all`" in capsys.readouterr().out


def test_the_same_answer_that_no_longer_passes_opens_its_exercise(clone: Path, strides: Exercise) -> None:
    strides.answer.write_text(REFUSED)
    note(clone, strides, states.passed(digest(strides.answer)))
    check(clone, "02.1")
    assert not load(clone).of(strides).passed


def test_an_experiment_after_a_pass_does_not(clone: Path, strides: Exercise) -> None:
    check(clone, "02.1")
    strides.answer.write_text(REFUSED)
    check(clone, "02.1")
    assert load(clone).standing(strides) == "changed"


# --- all ---


def test_all_that_were_started_are_checked_with_a_line_each(
    clone: Path, strides: Exercise, rungs: Rungs, capsys: Output
) -> None:
    assert checking.check_all(clone, 5) == 0
    assert capsys.readouterr().out == "02.1  passed\n\n1 of 1 exercise passed.\nGo on: `workbook next`\n"
    assert rungs.asked == [("02.1", None, 5)]


def test_checking_all_does_not_change_what_is_worked_on(clone: Path, strides: Exercise) -> None:
    find(clone, "02.2").answer.write_text(PASSED)
    check(clone, "02.1")
    checking.check_all(clone, 20)
    assert load(clone).last == "02-tensor-storage/strides"


@pytest.mark.parametrize(
    ("word", "line"),
    [
        (REFUSED, "02.1  refused by its own tests; it passed before and is open again"),
        ("edited", f"02.1  passed; not counted, edited: {EDITED}; it passed before and is open again"),
        (NOT_STARTED, "02.1  not started; it passed before and is open again"),
    ],
)
def test_what_does_not_pass_any_more_is_open_again(
    clone: Path, strides: Exercise, capsys: Output, word: str, line: str
) -> None:
    check(clone, "02.1")
    capsys.readouterr()
    strides.answer.write_text(word)
    assert checking.check_all(clone, 20) == 1
    out = capsys.readouterr().out
    assert " ".join(out.split("\n\n", maxsplit=1)[0].split()) == " ".join(line.split())
    assert out.endswith("To see what the first of the others lacks: `workbook check 02.1`\n")
    assert not load(clone).of(strides).passed


def test_an_answer_that_is_gone_opens_its_exercise(clone: Path, strides: Exercise, capsys: Output) -> None:
    check(clone, "02.1")
    strides.answer.unlink()
    assert checking.check_all(clone, 20) == 1
    assert "02.1  its answer.py is gone; open again" in capsys.readouterr().out
    assert load(clone).standing(strides) == "not started"


def test_when_nothing_is_started_all_is_nothing(clone: Path, capsys: Output) -> None:
    assert checking.check_all(clone, 20) == 3
    assert "No exercise is started yet. To start the first one: `workbook start`" in capsys.readouterr().out


def test_a_state_that_cannot_be_saved_is_said_once_and_the_check_is_done(
    clone: Path, strides: Exercise, capsys: Output
) -> None:
    (clone / "exercises" / "progress.json").write_text('{"version": 3}')
    assert check(clone, "02.1") == 0
    captured = capsys.readouterr()
    assert "passed" in captured.out
    assert captured.err.count("newer workbook (version 3") == 1
    assert checking.check_all(clone, 20) == 0
    captured = capsys.readouterr()
    assert "1 of 1 exercise passed" in captured.out
    assert captured.err.count("newer workbook (version 3") == 1
