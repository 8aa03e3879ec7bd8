"""Does each command do its work, keep what the reader wrote, and say what to do next?"""

from __future__ import annotations

import doctest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest

from tests.workbook.exercises.tree import make_clone
from workbook.exercises import desk, say
from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, ExerciseError, UnknownExercise, find
from workbook.exercises.overview import progress
from workbook.exercises.sheet import unanswered
from workbook.exercises.state import digest, load, note

Output = pytest.CaptureFixture[str]
PLACES = ("02-tensor-storage/01_strides", "02-tensor-storage/02_view", "04-autograd/01_formula")
FOLDER = "exercises/02-tensor-storage/01_strides"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with three exercises; the reader stands in it."""
    monkeypatch.chdir(tmp_path)
    return make_clone(tmp_path, *PLACES)


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen of 100 columns, and a command that is on the search path."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(say, "program", lambda: "workbook")


@pytest.fixture
def strides(clone: Path) -> Exercise:
    """The first exercise."""
    return find(clone, "02.1")


def passes(clone: Path, *names: str) -> None:
    """Write answers to these exercises and have them pass."""
    for name in names:
        exercise = find(clone, name)
        desk.begin(exercise)
        note(clone, exercise, states.passed(digest(exercise.answer)))


def said(capsys: Output) -> str:
    """All that was printed, each word after one space."""
    return " ".join(capsys.readouterr().out.split())


def test_the_examples_hold() -> None:
    assert doctest.testmod(desk).failed == 0


# --- start ---


def test_start_makes_the_readers_files_and_says_what_to_do(clone: Path, strides: Exercise, capsys: Output) -> None:
    assert desk.start(clone, "strides") == 0
    assert strides.answer.read_bytes() == strides.start.read_bytes()
    assert strides.my_lab.read_bytes() == unanswered(strides.lab.read_bytes())
    assert capsys.readouterr().out.splitlines() == [
        "02.1  About strides (write, difficulty 1 of 3, about 15 min)",
        "",
        f"Your file: {FOLDER}/answer.py",
        f"Your sheet: {FOLDER}/my_lab.ipynb",
        "",
        "Task: Write strides.",
        "",
        "What to do next",
        "  1. Read first: chapters/02-tensor-storage/one-buffer-many-views.md (in the book: `workbook read`;",
        "     as a notebook: `workbook lab chapters/02-tensor-storage/one-buffer-many-views.md`)",
        "  2. Open your file in an editor and write `strides`.",
        "  3. `workbook check 02.1`, as often as you like. `workbook watch 02.1` checks on each save.",
        "To play with it: `workbook lab 02.1`. Stuck? `workbook hint 02.1`",
    ]
    assert load(clone).of(strides).started


def test_start_never_writes_over_what_is_there(clone: Path, strides: Exercise, capsys: Output) -> None:
    strides.answer.write_text("mine\n")
    strides.my_lab.write_text("my sheet\n")
    assert desk.start(clone, "02.1") == 0
    assert (strides.answer.read_text(), strides.my_lab.read_text()) == ("mine\n", "my sheet\n")
    assert f"You started it before: {FOLDER}/answer.py is as you left it." in said(capsys)


def test_start_without_a_name_takes_the_next_one(clone: Path) -> None:
    passes(clone, "02.1")
    assert desk.start(clone, None) == 0
    assert find(clone, "02.2").answer.exists()
    assert not find(clone, "04.1").answer.exists()


def test_start_says_what_an_exercise_builds_on(clone: Path, capsys: Output) -> None:
    facts = find(clone, "02.2").facts
    facts.write_text(facts.read_text().replace("needs = []", 'needs = ["02.1", "09.9"]'))
    desk.start(clone, "02.2")
    assert "It builds on 02.1, which you have not passed yet." in said(capsys)
    passes(clone, "02.1")
    desk.start(clone, "02.2")
    assert "builds on" not in said(capsys)


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ("open", r"Permission denied\n  the folder \S+/01_strides must be writable for you;"),
        ("write", r"No space left on device\n  make room on the disk, and try again$"),
    ],
)
def test_start_in_a_folder_that_cannot_be_written_says_so(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch, failing: str, said: str
) -> None:
    real = Path.open

    class Full:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def write(self, content: bytes) -> None:
            raise OSError(28, "No space left on device")

    def open_(self: Path, mode: str = "r", **options: object) -> object:
        if mode == "xb":
            if failing == "write":
                self.touch()
                return Full()
            raise PermissionError(13, "Permission denied")
        return real(self, mode, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", open_)
    with pytest.raises(ExerciseError, match=rf"{FOLDER}/answer\.py could not be written: {said}"):
        desk.start(clone, "02.1")
    assert not strides.answer.exists()


@pytest.mark.parametrize("sheet", [False, True])
def test_what_is_no_file_stands_in_the_way_and_is_named(clone: Path, strides: Exercise, *, sheet: bool) -> None:
    mine, other = (strides.my_lab, strides.answer) if sheet else (strides.answer, strides.my_lab)
    mine.mkdir()
    refused = rf"{mine.name} is a folder\n  move it away; `workbook start 02\.1` then makes the file"
    for command in (lambda: desk.start(clone, "02.1"), lambda: desk.reset(clone, "02.1", sheet=sheet)):
        with pytest.raises(ExerciseError, match=refused):
            command()
    mine.rmdir()
    mine.symlink_to("nowhere")
    for command in (lambda: desk.start(clone, "02.1"), lambda: desk.reset(clone, "02.1", sheet=sheet)):
        with pytest.raises(ExerciseError, match="is a link to nowhere, which is not there"):
            command()
    assert not other.exists()
    assert not load(clone).of(strides).started


def test_start_says_which_shipped_file_is_gone(clone: Path, strides: Exercise) -> None:
    strides.start.unlink()
    with pytest.raises(ExerciseError, match=rf"git checkout -- {FOLDER}/start\.py"):
        desk.start(clone, "02.1")
    assert not strides.answer.exists()


def test_what_must_be_said_about_the_state_goes_beside_the_output(clone: Path, capsys: Output) -> None:
    (clone / "exercises" / "progress.json").write_text('{"version": 9}')
    assert desk.start(clone, "02.1") == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("workbook: exercises/progress.json was written by a newer workbook (version 9;")
    assert "newer" not in captured.out


def test_a_damaged_state_is_said_by_a_command_that_also_writes(clone: Path, capsys: Output) -> None:
    (clone / "exercises" / "progress.json").write_text("{")
    desk.start(clone, "02.1")
    assert capsys.readouterr().err.count("is damaged") == 1


# --- next ---


def test_next_names_the_first_that_has_not_passed(clone: Path, capsys: Output) -> None:
    assert desk.next_exercise(clone) == 0
    text = said(capsys)
    assert text.startswith("02.1 About strides (write, difficulty 1 of 3, about 15 min) Task: Write strides. Read")
    assert text.endswith("Then: `workbook start 02.1`")
    passes(clone, "02.1")
    desk.next_exercise(clone)
    assert "Then: `workbook start 02.2`" in said(capsys)


def test_next_stays_with_what_is_being_worked_on(clone: Path, capsys: Output) -> None:
    desk.start(clone, "02.2")
    capsys.readouterr()
    desk.next_exercise(clone)
    text = said(capsys)
    assert "You have started it: exercises/02-tensor-storage/02_view/answer.py" in text
    assert "Then: `workbook check 02.2`" in text
    assert text.endswith("Before it in the order, and not passed: 02.1. All of them: `workbook progress`")


def needs(clone: Path, name: str, *others: str) -> None:
    """Have an exercise need others."""
    facts = find(clone, name).facts
    facts.write_text(facts.read_text().replace("needs = []", f"needs = {list(others)}"))


def test_next_puts_off_what_needs_an_exercise_that_has_not_passed(clone: Path, capsys: Output) -> None:
    needs(clone, "04.1", "02.1")
    passes(clone, "02.2")  # the last one worked on; 04.1 comes after it
    desk.next_exercise(clone)
    assert said(capsys).startswith("02.1 ")
    assert desk.start(clone, None) == 0
    assert find(clone, "02.1").answer.exists()
    assert not find(clone, "04.1").answer.exists()


def test_next_offers_an_exercise_once_what_it_needs_has_passed(clone: Path, capsys: Output) -> None:
    needs(clone, "04.1", "02.1", "09.9")
    passes(clone, "02.1", "02.2")
    desk.next_exercise(clone)
    assert said(capsys).startswith("04.1 ")


def test_next_stays_with_what_was_begun_too_early(clone: Path, capsys: Output) -> None:
    needs(clone, "02.2", "02.1")
    desk.start(clone, "02.2")
    capsys.readouterr()
    desk.next_exercise(clone)
    assert said(capsys).startswith("02.2 ")


def test_next_goes_back_to_what_was_left_out_at_the_end(clone: Path, capsys: Output) -> None:
    passes(clone, "02.2", "04.1")
    desk.next_exercise(clone)
    assert said(capsys).startswith("02.1 ")


def test_next_at_the_end_says_that_all_have_passed(clone: Path, capsys: Output) -> None:
    passes(clone, "02.1", "02.2", "04.1")
    assert desk.next_exercise(clone) == 0
    assert said(capsys) == "All 3 exercises have passed. To see that they still do: `workbook check --all`"
    assert desk.start(clone, None) == 0
    assert "All 3 exercises have passed" in said(capsys)


# --- hint ---


def test_hints_come_one_by_one_and_say_how_many_are_left(clone: Path, capsys: Output) -> None:
    desk.start(clone, "02.1")
    capsys.readouterr()
    wanted = [
        ("Hint 1 of 3 Look at `strides`.", "2 hints left: `workbook hint 02.1`. When you have something: `workbook ch"),
        ("Hint 2 of 3 Two.", "1 hint left: `workbook hint 02.1`."),
        ("Hint 3 of 3 Three.", "This was the last one. All again: `workbook hint 02.1 --all`. When nothing helps: "),
        ("Hint 3 of 3 Three.", "You have seen them all: this is the last one."),
    ]
    for hint, close in wanted:
        assert desk.hint(clone, None, None, everything=False) == 0
        text = said(capsys)
        assert f"(write, difficulty 1 of 3, about 15 min) {hint} {close}" in text
        assert "started" not in text


def test_all_hints_and_one_by_its_number(clone: Path, strides: Exercise, capsys: Output) -> None:
    desk.hint(clone, "02.1", 2, everything=False)
    text = said(capsys)
    assert "Hint 2 of 3 Two." in text
    assert "Hint 1" not in text
    assert "You have not started it: `workbook start 02.1`" in text
    assert load(clone).of(strides).hints == 2
    desk.hint(clone, "02.1", None, everything=True)
    text = said(capsys)
    assert "Hint 1 of 3 Look at `strides`. Hint 2 of 3 Two. Hint 3 of 3 Three." in text
    assert load(clone).of(strides).hints == 3


def test_a_hint_that_is_not_there_is_refused(clone: Path, strides: Exercise) -> None:
    for number in (0, 4):
        with pytest.raises(UnknownExercise, match=rf"02\.1 has no hint {number}\n  it has hints 1 to 3"):
            desk.hint(clone, "02.1", number, everything=False)
    strides.hints_file.write_text("# None\n")
    with pytest.raises(ExerciseError, match="has no hints yet"):
        desk.hint(clone, "02.1", None, everything=False)


def test_without_a_name_it_is_the_one_worked_on(clone: Path, capsys: Output) -> None:
    with pytest.raises(ExerciseError, match=r"(?s)no exercise is started, and none was named.*`workbook start`"):
        desk.hint(clone, None, None, everything=False)
    desk.start(clone, "02.1")
    desk.start(clone, "04.1")
    desk.start(clone, "02.2")
    passes(clone, "02.2")
    capsys.readouterr()
    desk.hint(clone, None, None, everything=False)
    assert said(capsys).startswith("02.1 ")
    passes(clone, "04.1", "02.1")
    desk.hint(clone, None, None, everything=False)
    assert said(capsys).startswith("02.1 ")


# --- solution ---


def test_the_solution_opens_when_the_exercise_has_passed(clone: Path, strides: Exercise, capsys: Output) -> None:
    desk.hint(clone, "02.1", None, everything=False)
    with pytest.raises(ExerciseError) as caught:
        desk.solution(clone, "02.1", anyway=False)
    assert str(caught.value) == (
        "02.1 has not passed yet; the solution opens when it has\n  2 hints left: `workbook hint 02.1`\n"
        "  to see it all the same: `workbook solution 02.1 --anyway`"
    )
    passes(clone, "02.1")
    capsys.readouterr()
    assert desk.solution(clone, None, anyway=False) == 0
    out = capsys.readouterr().out
    assert "Ours: exercises/solutions/02-tensor-storage/01_strides/solution.py\n\ndef strides():\n    return 1\n" in out
    assert "From yours (-) to ours (+):" in out
    assert out.endswith("Go on: `workbook next`\n")
    assert load(clone).of(strides).solution


def test_who_insists_sees_the_solution(clone: Path, strides: Exercise, capsys: Output) -> None:
    assert desk.solution(clone, "02.1", anyway=True) == 0
    text = said(capsys)
    assert "def strides(): return 1" in text
    assert text.endswith("Close it and write yours from memory, then: `workbook check 02.1`")
    assert load(clone).of(strides).solution


def test_a_solution_that_was_taken_out_is_said_and_not_noted(clone: Path, strides: Exercise) -> None:
    strides.solution.unlink()
    with pytest.raises(ExerciseError, match=r"01_strides/solution\.py cannot be read"):
        desk.solution(clone, "02.1", anyway=True)
    assert not load(clone).of(strides).solution


def test_an_answer_that_is_not_text_does_not_hide_the_solution(clone: Path, strides: Exercise, capsys: Output) -> None:
    strides.answer.write_bytes(b"\xff")
    assert desk.solution(clone, "02.1", anyway=True) == 0
    assert "return 1" in said(capsys)


# --- reset ---


def test_reset_keeps_what_was_written(clone: Path, strides: Exercise, capsys: Output) -> None:
    passes(clone, "02.1")
    for number, text in enumerate(("first\n", "second\n"), 1):
        strides.answer.write_text(text)
        capsys.readouterr()
        assert desk.reset(clone, None, sheet=False) == 0
        kept = strides.kept / f"answer-{number}.py"
        assert kept.read_text() == text
        assert strides.answer.read_bytes() == strides.start.read_bytes()
        shown = said(capsys)
        assert f"What you wrote is kept: {FOLDER}/kept/answer-{number}.py" in shown
        assert ("counts as open again" in shown) == (number == 1)
    assert not load(clone).of(strides).passed
    assert (strides.kept / "answer-1.py").read_text() == "first\n"


def test_reset_of_the_sheet_leaves_the_answer(clone: Path, strides: Exercise) -> None:
    passes(clone, "02.1")
    strides.my_lab.write_text("scribbled\n")
    assert desk.reset(clone, "02.1", sheet=True) == 0
    assert strides.my_lab.read_bytes() == unanswered(strides.lab.read_bytes())
    assert (strides.kept / "my_lab-1.ipynb").read_text() == "scribbled\n"
    assert load(clone).of(strides).passed


def test_reset_of_nothing_says_so(clone: Path, strides: Exercise, capsys: Output) -> None:
    assert desk.reset(clone, "02.1", sheet=False) == 0
    assert "answer.py is not there. To begin: `workbook start 02.1`" in said(capsys)
    desk.begin(strides)
    assert desk.reset(clone, "02.1", sheet=False) == 0
    assert "answer.py is as it was at the start" in said(capsys)
    assert not strides.kept.exists()


@pytest.mark.parametrize("method", ["mkdir", "replace"])
def test_a_reset_that_fails_leaves_the_answer(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    strides.answer.write_text("mine\n")

    def refuse(self: Path, *arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, method, refuse)
        with pytest.raises(ExerciseError, match=r"could not be .*Permission denied"):
            desk.reset(clone, "02.1", sheet=False)
    assert strides.answer.read_text() == "mine\n"


# --- every command ---


def test_a_clone_without_exercises_says_so(tmp_path: Path, capsys: Output) -> None:
    make_clone(tmp_path)
    commands: tuple[Callable[[], int], ...] = (
        lambda: progress(tmp_path, None, as_json=False),
        lambda: desk.next_exercise(tmp_path),
        lambda: desk.start(tmp_path, None),
    )
    for run in commands:
        assert run() == 0
        assert said(capsys) == "There are no exercises in this clone yet."


def every_command(clone: Path) -> Iterator[Callable[[], int]]:
    """What a reader may ask for, in an order that makes sense."""
    yield lambda: desk.next_exercise(clone)
    yield lambda: desk.start(clone, "02.1")
    yield lambda: desk.hint(clone, "02.1", None, everything=True)
    yield lambda: desk.solution(clone, "02.1", anyway=True)
    yield lambda: progress(clone, None, as_json=False)


def test_no_line_of_text_is_wider_than_a_narrow_screen(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for run in every_command(clone):
        run()
        for line in capsys.readouterr().out.splitlines():
            unbreakable = max((len(word) for word in line.split()), default=0) > 24 or "`workbook " in line
            assert len(line) <= 40 or unbreakable, line
