"""Do the pages about exercises print what the commands print?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from workbook.book.progress_example import ASKED_IN, QUESTION, SECOND_DAY, progress_file, progress_output
from workbook.exercises.catalogue import Exercise, exercises, find
from workbook.exercises.report import render
from workbook.exercises.rungs import run_check
from workbook.exercises.say import program
from workbook.exercises.state import load
from workbook.exercises.wrong import whole
from workbook.review.interview import interview, key_of
from workbook.review.schedule import GOOD, reviewed

PAGES = ROOT / "chapters" / "exercises"
STRIDES = find(ROOT, "02.1")
SIZE_ZERO = whole(STRIDES, STRIDES.solutions / "wrong_size_zero.diff")
FENCE = re.compile(r"^```(text|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page."""
    return [text for kind, text in FENCE.findall((PAGES / page).read_text(encoding="utf-8")) if kind == language]


def comparable(text: str) -> str:
    """The text without what differs from run to run, and without lines that move when a file grows."""
    return " ".join(re.sub(r"\d+\.\d s|\(line \d+\)", "", text).split())


def test_the_index_shows_what_a_refused_check_prints(tmp_path: Path) -> None:
    answer = tmp_path / "answer.py"
    answer.write_text(SIZE_ZERO, encoding="utf-8")
    report = run_check(ROOT, STRIDES, answer)
    printed = render(report, 80).replace(program(), "workbook")
    printed = re.sub(
        rf"Row-major strides\s+{re.escape(report.answer)}", f"Row-major strides    {STRIDES.place}/answer.py", printed
    )

    assert comparable(blocks("index.md", "text")[1]) == comparable(printed)


def test_the_script_for_a_class_prints_what_the_page_says(tmp_path: Path) -> None:
    answers = {
        "ada": STRIDES.solution.read_text(encoding="utf-8"),
        "ben": SIZE_ZERO,
        "cleo": STRIDES.start.read_text(encoding="utf-8"),
    }
    for who, text in answers.items():
        folder = tmp_path / "handed-in" / who / STRIDES.place
        folder.mkdir(parents=True)
        (folder / "answer.py").write_text(text, encoding="utf-8")
    script = tmp_path / "check_class.py"
    script.write_text(blocks("teaching.md", "python")[0], encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, str(script), "handed-in"],
        cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert comparable(done.stdout) in map(comparable, blocks("teaching.md", "text"))


def test_what_progress_prints_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = progress_output(ROOT)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert progress_output(ROOT) == plain
    for standing in ("passed", "changed", "started", "not started"):
        assert f"  {standing}  " in plain
    assert "Go on: `workbook next`" in plain


def test_the_page_counts_as_many_passed_as_progress_does() -> None:
    said = " ".join((ROOT / "chapters" / "exercises" / "progress.md").read_text(encoding="utf-8").split())
    assert "who has passed two exercises, changed one of the two answers afterwards, and begun a third, and who" in said
    assert "has committed two predictions:" in said
    assert re.search(r"^2 of \d+ exercises passed", progress_output(ROOT), re.MULTILINE)
    assert re.search(r"^Predictions: 2 of 3 committed, 1 right", progress_output(ROOT), re.MULTILINE)


def test_the_file_of_the_page_is_one_that_the_command_reads(tmp_path: Path) -> None:
    (tmp_path / "exercises").mkdir()
    text = "\n".join(progress_file(ROOT).splitlines()[1:-1])
    (tmp_path / "exercises" / "progress.json").write_text(text, encoding="utf-8")
    state = load(tmp_path)
    assert state.said == []
    assert len(state.records) == 3
    assert [prediction.mark for prediction in state.predictions.values()] == ["right", "wrong"]
    assert state.cards == {key_of(QUESTION): reviewed(None, GOOD, SECOND_DAY)}


def test_the_card_of_the_example_is_one_of_a_question_of_the_book() -> None:
    (one,) = (one for one in interview(ROOT) if one.key == key_of(QUESTION))
    assert one.section.path == ASKED_IN
    assert "1 card is due for review: `workbook review`\n" in progress_output(ROOT)


def test_nobodys_answers_are_in_the_example(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "exercises", tmp_path / "exercises", ignore=shutil.ignore_patterns("solutions", "progress.json*")
    )
    for folder in (tmp_path / "exercises").glob("*/*"):
        (folder / "answer.py").write_text("mine", encoding="utf-8")
    (tmp_path / "exercises" / "progress.json").write_text("{", encoding="utf-8")
    assert progress_output(tmp_path) == progress_output(ROOT)


@pytest.mark.parametrize("exercise", exercises(ROOT), ids=lambda exercise: exercise.identity)
def test_a_stub_says_what_to_type_as_it_is_typed(exercise: Exercise) -> None:
    text = exercise.start.read_text(encoding="utf-8")
    assert f"`.venv/bin/workbook check {exercise.identity}`" in text
    assert "`workbook" not in text
