"""Does `workbook predict` ask, mark and record, whatever is typed?"""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workbook.predictions.asking_book import NONE_AND_ALL, QUESTIONS, RIGHT, SECTION, WRONG, make_book
from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError, UnknownExercise
from workbook.predictions import terminal
from workbook.predictions.questions import questions
from workbook.stopped import STOPPED

Output = pytest.CaptureFixture[str]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A clone whose book asks."""
    return make_book(tmp_path)


def asked(
    book: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
    *lines: str,
    name: str | None = None,
    again: bool = False,
) -> str:
    """What is printed while a reader types these lines."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    assert terminal.predict(book, name, again=again) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return " ".join(captured.out.split())


def marks(book: Path) -> list[str]:
    """The marks on record, in the order of the book."""
    predictions = states.load(book).predictions
    return [predictions[one.question.key].mark for one in questions(book) if one.question.key in predictions]


def test_a_chapter_is_asked_marked_and_recorded(book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    said = asked(book, monkeypatch, capsys, "3", "a", "a c", "(1, 2)", "Because.", "y", name="04")
    assert marks(book) == ["right", "wrong", "right", "wrong", "right"]
    assert "The graph chapters/04-autograd/graph.md print('output', 1)" in said
    assert "a `CPU` b `Meta` c 3" in said
    assert "Wrong: the answer is Meta. output 2 Because it is so." in said
    assert "5 answered, 3 right, 0 not answered." in said


def test_what_was_answered_is_not_asked_again(book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    asked(book, monkeypatch, capsys, "4", "q")
    said = asked(book, monkeypatch, capsys, "b", "q")
    assert "4 predictions." in said
    assert "1 of 4. Which key?" in said
    said = asked(book, monkeypatch, capsys, "3", "q", again=True)
    assert "1 of 5. How many nodes?" in said
    assert "Right." in said
    assert marks(book) == ["wrong", "right"]  # the first answers


def test_all_of_them_answered_is_said(book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    asked(book, monkeypatch, capsys, "3", "b", "a c", "2,1", "so", "n")
    assert marks(book) == ["right"] * 4 + ["wrong"]
    assert "All 5 predictions here are committed" in asked(book, monkeypatch, capsys)


@pytest.mark.parametrize(
    "lines", [(), ("3",), ("3", "b", "q"), ("3", "b", "a,c", "x", "so"), ("3", "b", "a,c", "x", "so", "q")]
)
def test_a_sitting_may_be_broken_off_at_any_place(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, lines: tuple[str, ...]
) -> None:
    answered = [line for line in lines if line != "q"]
    said = asked(book, monkeypatch, capsys, *lines)
    assert len(states.load(book).predictions) == len(answered)
    assert f"{len(answered)} answered" in said


def test_ctrl_c_ends_politely(book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    lines = iter(["3\n"])

    class Interrupted(io.StringIO):
        def readline(self, size: int = -1, /) -> str:
            for line in lines:
                return line
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupted())
    assert terminal.predict(book, None, again=False) == STOPPED
    assert "1 answered, 1 right, 4 not answered." in capsys.readouterr().out
    assert marks(book) == ["right"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Not committed: nothing was entered."),
        ("three", "Not committed: 'three' is not a number"),
        ("3" * 100_000, "Not committed: 100,000 characters are too many"),
        ("\x1b[31m", r"Not committed: '\x1b[31m' is not a number"),
    ],
)
def test_what_is_no_answer_is_asked_again(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, typed: str, said: str
) -> None:
    assert said in asked(book, monkeypatch, capsys, typed, "3")
    assert marks(book) == ["right"]


@pytest.mark.parametrize("typed", ["b", "B", "Meta", "'Meta'"])
def test_a_choice_is_made_by_letter_or_by_text(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, typed: str
) -> None:
    asked(book, monkeypatch, capsys, "?", typed)
    assert marks(book) == ["right"]


def test_none_and_all_of_several_choices_may_be_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    book = make_book(tmp_path, questions=NONE_AND_ALL)
    said = asked(book, monkeypatch, capsys, "a", "abc", again=True)
    assert "Wrong: none of them applies." in said
    assert marks(book) == ["wrong", "right"]
    book = make_book(tmp_path / "again", questions=NONE_AND_ALL)
    said = asked(book, monkeypatch, capsys, "-", "a c", again=True)
    assert "Wrong: what applies is (1, 2); b; c." in said
    assert marks(book) == ["right", "wrong"]


@pytest.mark.parametrize(("typed", "mark"), [("ac", "right"), ("c, a", "right"), ("a a c", "right"), ("-", "wrong")])
def test_several_choices_are_made_by_their_letters(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, typed: str, mark: str
) -> None:
    asked(book, monkeypatch, capsys, "?", "?", typed)
    assert marks(book) == [mark]


def test_a_chapter_or_a_section_is_named_in_any_way(book: Path) -> None:
    make_book(book, "05-cuda/launch", QUESTIONS[:1])
    every = questions(book)
    for name in (
        "04",
        "4",
        "04-autograd",
        "autograd",
        SECTION,
        "graph",
        f"chapters/{SECTION}.md",
        "chapters/04-autograd/",
    ):
        assert len(terminal.among(book, every, name)) == 5, name
    assert len(terminal.among(book, every, None)) == 6
    with pytest.raises(UnknownExercise, match="or exercise '77'\n  chapters: 04-autograd, 05-cuda"):
        terminal.among(book, every, "77")


def test_the_wrong_answers_of_the_sample_are_wrong(book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    lines = [" ".join("abc"[QUESTIONS[2]["choices"].index(text)] for text in given) if number == 2 else given[0]
             for number, given in enumerate(WRONG)]  # fmt: skip
    asked(book, monkeypatch, capsys, *lines, "n")
    assert marks(book) == ["wrong"] * 5
    assert len(RIGHT) == 5


def test_an_explanation_that_was_not_graded_is_asked_again(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    asked(book, monkeypatch, capsys, "3", "b", "a c", "2,1", "so")  # the input ends before the grade
    assert marks(book) == ["right"] * 4 + [""]
    assert "1 of 1. Why?" in asked(book, monkeypatch, capsys, "so it is", "n")
    assert marks(book) == ["right"] * 4 + ["wrong"]
    assert [*states.load(book).predictions.values()][-1].day == states.today()


def test_a_full_disk_ends_the_sitting_and_says_so(book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(states, "replace_file", full)
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\nb\n"))
    assert terminal.predict(book, None, again=False) == 1
    captured = capsys.readouterr()
    assert "could not be saved in exercises/progress.json (No space left on device)" in " ".join(captured.err.split())
    assert "0 answered, 0 right, 5 not answered." in captured.out


def test_a_record_of_a_newer_workbook_is_said_before_anything_is_asked(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    (book / "exercises" / "progress.json").write_text('{"version": 9}')
    assert terminal.predict(book, None, again=False) == 1
    captured = capsys.readouterr()
    assert "newer workbook (version 9" in captured.err
    assert captured.out == ""


def test_without_notebooks_it_says_how_to_build_them(tmp_path: Path) -> None:
    (tmp_path / "exercises").mkdir()
    with pytest.raises(ExerciseError, match="no notebook in chapters/ asks a prediction"):
        terminal.predict(tmp_path, None, again=False)


def test_two_letters_are_no_choice(book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    said = asked(book, monkeypatch, capsys, "?", "a b", "b")
    assert "Not committed: 'a b' is not one of the choices; accepted: a letter from a to c." in said
    assert marks(book) == ["right"]


def test_a_wrong_letter_is_told_the_letters_and_not_the_choices(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    said = asked(book, monkeypatch, capsys, "?", "d", "", "b", "a d", "-")
    assert "Not committed: 'd' is not one of the choices; accepted: a letter from a to c." in said
    assert "Not committed: nothing was entered." in said
    assert "Not committed: 'a d' is not one of the choices; accepted: letters from a to c, or - for none." in said
    assert marks(book) == ["right", "wrong"]


def test_the_grade_of_an_explanation_may_be_passed_by(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    said = asked(book, monkeypatch, capsys, "?", "?", "?", "?", "so", "?")
    assert "1 answered, 0 right, 4 not answered." in said
    assert "What you missed" not in said
    assert marks(book) == [""]


@pytest.mark.parametrize("columns", [40, 80])
def test_the_verdict_is_wrapped_in_its_colour(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    one = questions(book)[2]
    choices = tuple(f"the kernel runs with the {number} keys" for number in range(9))
    terminal.show(replace(one, question=replace(one.question, choices=choices, value=list(choices))), "wrong")
    verdict = [line for line in capsys.readouterr().out.splitlines() if line.startswith("\x1b[31;1m")]
    assert verdict[0].startswith("\x1b[31;1mWrong: what applies is")
    assert len(verdict) >= 300 // columns
    assert all(len(line) <= columns + len("\x1b[31;1m\x1b[0m") and line.endswith("\x1b[0m") for line in verdict)


@pytest.mark.parametrize("columns", [40, 80])
def test_a_line_that_tells_a_figure_is_wrapped_and_a_table_is_not(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    description = "a cell holds " * 9 + "and ends"
    figure = {"output_type": "display_data", "data": {"text/plain": description}, "metadata": {}}
    rows = [
        f"{'1  ' * 40}",
        "one row of many that is longer than a narrow screen and is left as it is, for its columns",
    ]
    table = {"output_type": "stream", "text": "".join(f"{row}\n" for row in rows)}
    line = {"output_type": "stream", "text": f"{rows[0]}\n"}
    terminal.show(replace(questions(book)[0], outputs=(figure, table, line)), "right")
    lines = capsys.readouterr().out.splitlines()
    told = lines[2 : lines.index(f"    {rows[0]}")]
    assert " ".join(" ".join(told).split()) == description
    assert max(map(len, told)) <= columns
    assert lines.count(f"    {rows[0]}") == 2
    assert f"    {rows[1]}" in lines
