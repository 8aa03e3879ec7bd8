"""Does an exercise's page say what its files say, and nothing of its solution?"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from workbook.book import exercise_pages as pages
from workbook.book.contents import chapter_title
from workbook.book.errors import BookError
from workbook.book.exercise_pages import exercise_index, exercise_page
from workbook.exercises.catalogue import Exercise, Piece, exercises, find

EVERY = exercises(ROOT)
SECTION = '# One buffer\n\n"*20 minutes.*"\n'


@pytest.fixture
def strides() -> Exercise:
    return find(ROOT, "02.1")


def page(exercise: Exercise) -> str:
    return exercise_page(exercise, EVERY, ROOT)


def test_a_page_has_the_facts_the_commands_and_the_sheet(strides: Exercise) -> None:
    text = page(strides)
    assert text.startswith(f"# 02.1 {strides.title}\n")
    assert "Form\n:   write: you write a piece of the library from its contract.\n\nDifficulty\n:   1 of 3\n\n" in text
    assert f"Time\n:   {strides.minutes} minutes" in text
    assert "Read first\n:   [One buffer, many views](../02-tensor-storage/one-buffer-many-views.md)" in text
    assert strides.asks in text
    assert "```text\n.venv/bin/workbook start 02.1\n```" in text
    assert "```text\n.venv/bin/workbook check 02.1\n```" in text
    assert f"`{strides.place}/answer.py`" in text
    assert '(02.1-strides-lab.ipynb){ .download download="" }' in text
    assert "Do first" not in text


def test_a_page_has_the_stub_as_text_and_code_without_its_header(strides: Exercise) -> None:
    text = page(strides)
    assert "jupytext" not in text
    assert text.count("# 02.1") == 1
    code = re.search(r"^``` \{\.python\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert code is not None
    assert code[1].strip() in strides.start.read_text(encoding="utf-8")
    assert "def contiguous_strides(" in code[1]
    assert "raise NotImplementedError" in code[1]


@pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.identity)
def test_every_hint_is_folded_by_itself(exercise: Exercise) -> None:
    text = page(exercise)
    folds = re.findall(
        r'<details class="hint" markdown="1">\n<summary>Hint (\d+)</summary>\n\n(.*?)\n\n</details>', text, re.DOTALL
    )
    assert folds == [(str(number), hint) for number, hint in enumerate(exercise.hints(), start=1)]


@pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.identity)
def test_a_page_without_its_hints_holds_no_three_lines_of_the_solution(exercise: Exercise) -> None:
    shown = page(exercise).partition("## Hints")[0]
    stub = exercise.start.read_text(encoding="utf-8")
    lines = exercise.solution.read_text(encoding="utf-8").splitlines()
    triples = ["\n".join(lines[place : place + 3]) for place in range(len(lines) - 2)]
    assert [triple for triple in triples if len(triple) > 40 and triple not in stub and triple in shown] == []


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        (
            Piece("function", "glasstorch.core.geometry:view_strides", "mine"),
            "Your `mine` takes the place of `view_strides` in `glasstorch/core/geometry.py`, before another module",
        ),
        (
            Piece("policy", "glasstorch.autograd.input_buffer:accumulate", "mine"),
            "Your `mine` takes the place of the decision `accumulate` in `glasstorch/autograd/input_buffer.py`",
        ),
        (
            Piece("kernel", "aten::tanh", "mine", "Autograd"),
            "Your `mine` is registered as the kernel of `aten::tanh` at the key `Autograd`",
        ),
        (
            Piece("formula", "tanh.self", "mine"),
            "Your `mine` takes the place of the formula `tanh.self` in `operators/derivatives.yaml`: node and kernel",
        ),
    ],
)
def test_what_is_replaced_is_said_for_each_kind_of_piece(strides: Exercise, piece: Piece, said: str) -> None:
    text = page(replace(strides, pieces=(piece,)))
    assert said in text
    assert "Then the library's own tests run on it: `tests/core/test_geometry.py` and " in text
    assert "If the library\n   itself never calls it, this rung fails" in text


def test_many_pieces_are_told_in_one_sentence(strides: Exercise) -> None:
    queue, checking = "glasstorch.autograd.device_threads:ReadyQueue", "glasstorch.autograd.checking"
    same = (Piece("function", f"{queue}.push", "push"), Piece("function", f"{queue}.pop", "pop"))
    two = (Piece("function", f"{checking}.one:f", "f"), Piece("function", f"{checking}.two:g", "g"))
    formulas = (Piece("formula", "hypot.self", "f"), Piece("formula", "hypot.other", "g"))
    for pieces, said in {
        same: "Your `push` and `pop` take the place of `ReadyQueue.push` and `ReadyQueue.pop` in "
        "`glasstorch/autograd/device_threads.py`, before another module can import them.",
        two: "Your `f` and `g` take the place of `f` in `glasstorch/autograd/checking/one.py` and of `g` in "
        "`glasstorch/autograd/checking/two.py`, before another module can import them.",
        formulas: "Your `f` and `g` take the place of the formulas `hypot.self` and `hypot.other` in "
        "`operators/derivatives.yaml`: node and kernel are generated again from them, and",
    }.items():
        assert said in page(replace(strides, pieces=pieces))


def test_of_a_test_in_a_file_the_file_is_named(strides: Exercise) -> None:
    assert "run on it: `a.py` and `b.py`. If" in page(replace(strides, tests=("a.py::test_x[y]", "b.py", "a.py::z")))


def test_more_than_two_tests_are_listed_with_commas(strides: Exercise) -> None:
    for tests, said in ((("a.py",), "`a.py`"), (("a.py", "b.py", "c.py"), "`a.py`, `b.py` and `c.py`")):
        assert f"own tests run on it: {said}. If" in page(replace(strides, tests=tests))


def test_many_pieces_and_what_comes_before_are_said(strides: Exercise) -> None:
    two = replace(strides, pieces=strides.pieces * 2, needs=("02.1",))
    text = page(two)
    assert "run on them: " in text
    assert "Do first\n:   [02.1 Row-major strides](02.1-strides.md)" in text


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"section": "02-tensor-storage/gone"}, "section = '02-tensor-storage/gone', and there is no such section"),
        ({"needs": ("09.9",)}, "needs names 09.9, which is no exercise"),
    ],
)
def test_what_is_not_there_is_refused_with_its_file(strides: Exercise, changed: dict[str, str], said: str) -> None:
    with pytest.raises(BookError, match=re.escape(f"{strides.place}/exercise.toml: {said}")):
        page(replace(strides, **changed))  # type: ignore[arg-type]


def test_the_page_of_a_repair_says_how_it_is_seen_to_fail_and_not_where() -> None:
    repair = find(ROOT, "02.4")
    text = page(repair)
    assert "Form\n:   repair: the library has one fault. You find it, and mend it.\n" in text
    assert "```text\n.venv/bin/workbook faulty 02.4\n```" in text
    assert f"to `{repair.place}/faulty`" in text
    assert "First it looks at what you say" in text
    assert "takes the place of `" not in text
    for test in repair.tests:
        assert test not in text
    assert "kernels/views.py" not in text.partition("Hint 4</summary>")[0]


def test_the_index_has_a_table_for_each_chapter() -> None:
    text = exercise_index(ROOT)
    chapters = dict.fromkeys(exercise.chapter[:2] for exercise in EVERY)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [chapter_title(number) for number in chapters]
    for exercise in EVERY:
        assert f"| [{exercise.identity} {exercise.title}]({Path(pages.page_of(exercise)).name})<br>" in text
        assert f" | {exercise.form}, {exercise.difficulty} of 3<br>{exercise.minutes} minutes | [" in text


def test_pages_sheets_and_navigation_name_the_same_exercises() -> None:
    listed = [page for entry in pages.nav_entries(ROOT) for chapter in entry.values() for page in chapter]
    assert listed == list(pages.exercise_pages(ROOT))
    assert [sheet.removesuffix("-lab.ipynb") for sheet in pages.lab_sheets(ROOT)] == [
        page.removesuffix(".md") for page in listed
    ]


def test_a_chapter_that_the_book_does_not_name_is_called_by_its_folder() -> None:
    assert pages.chapter_title("04-autograd") == "04 Autograd"
    assert pages.chapter_title("99-far-away") == "99 Far away"


def test_a_project_without_exercises_has_no_pages(tmp_path: Path) -> None:
    assert pages.exercise_pages(tmp_path) == {}
    assert pages.nav_entries(tmp_path) == []
    assert pages.lab_sheets(tmp_path) == {}


def test_a_broken_exercise_is_said_as_an_error_of_the_book(tmp_path: Path) -> None:
    folder = tmp_path / "exercises" / "02-tensor-storage" / "01_strides"
    folder.mkdir(parents=True)
    (folder / "exercise.toml").write_text("title = 3\n", encoding="utf-8")
    with pytest.raises(BookError, match=r"exercise\.toml"):
        pages.exercise_pages(tmp_path)


def test_a_missing_lab_sheet_is_said_with_the_command_that_makes_it(
    strides: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "exercises" / "02-tensor-storage" / "01_strides"
    folder.mkdir(parents=True)
    monkeypatch.setattr(pages, "all_exercises", lambda root: [replace(strides, folder=folder)])
    with pytest.raises(BookError, match=r"lab\.ipynb: missing\n  run: python -m workbook\.book\.notebooks exercises"):
        pages.lab_sheets(tmp_path)
