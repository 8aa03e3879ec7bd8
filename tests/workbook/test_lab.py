"""Does JupyterLab open the chapter or the exercise that was asked for, and the reader's own copies of it?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer

from tests.workbook.exercises.tree import make_clone
from tests.workbook.predictions.asking_book import QUESTIONS, SECTION, make_book
from workbook import commands, targets
from workbook.commands import CommandError
from workbook.exercises import say
from workbook.exercises.catalogue import Exercise, UnknownExercise, find
from workbook.exercises.state import load
from workbook.lab import choose, open_lab

Output = pytest.CaptureFixture[str]
STRIDES = "exercises/02-tensor-storage/01_strides"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with an exercise and a chapter; the reader stands in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(say, "program", lambda: "workbook")
    clone = make_clone(tmp_path, "02-tensor-storage/01_strides").resolve()
    (clone / "chapters" / "00-start").mkdir()
    (clone / "chapters" / "00-start" / "tour.md").touch()
    return clone


@pytest.fixture
def strides(clone: Path) -> Exercise:
    """The exercise."""
    return find(clone, "02.1")


def test_without_a_name_chapter_00_is_opened(clone: Path) -> None:
    assert choose(clone, None, answer=False) == clone / "chapters" / "00-start"


@pytest.mark.parametrize(
    "name",
    ["chapters/00-start", "chapters/00-start/tour.md", "exercises", "exercises/02-tensor-storage",
     f"{STRIDES}/check_strides.py"],
)  # fmt: skip
def test_a_path_is_opened_as_it_is(clone: Path, strides: Exercise, name: str) -> None:
    assert choose(clone, name, answer=False) == clone / name
    assert not strides.answer.exists()


@pytest.mark.parametrize("name", [f"chapters/{SECTION}.md", f"chapters/{SECTION}.ipynb", "chapters/04-autograd", None])
def test_a_section_is_opened_as_the_readers_own_copy(clone: Path, name: str | None, capsys: Output) -> None:
    make_book(clone)
    make_book(clone, "00-start/tour")
    (clone / "chapters" / f"{SECTION}.md").touch()
    opened = choose(clone, name, answer=False)
    assert opened.relative_to(clone / "notebooks").as_posix() == {
        None: "00-start", "chapters/04-autograd": "04-autograd"
    }.get(name, f"{SECTION}.ipynb")  # fmt: skip
    said = "Made 2 notebooks in notebooks/. They are yours to change: git ignores them.\n"
    assert capsys.readouterr().out == said
    copy = clone / "notebooks" / f"{SECTION}.ipynb"
    copy.write_text("mine")
    assert choose(clone, str(copy), answer=False) == copy
    make_book(clone, questions=QUESTIONS[:1])
    assert choose(clone, name, answer=False) == opened
    said = (
        f"The book has changed since you edited notebooks/{SECTION}.ipynb. To get the section as it is now, rename "
        f"yours and run `workbook lab notebooks/{SECTION}.ipynb`."
    )
    assert " ".join(capsys.readouterr().out.split()) == (said if opened in (copy, *copy.parents) else "")
    assert copy.read_text() == "mine"


def test_a_copy_is_opened_before_it_exists(clone: Path) -> None:
    make_book(clone)
    assert choose(clone, f"notebooks/{SECTION}.ipynb", answer=False).is_file()


def test_where_no_copy_can_be_made_the_books_notebook_is_opened(clone: Path, capsys: Output) -> None:
    make_book(clone)
    (clone / "notebooks").touch()
    assert choose(clone, f"chapters/{SECTION}.ipynb", answer=False) == clone / "chapters" / f"{SECTION}.ipynb"
    told = capsys.readouterr()
    assert "could not be written: Not a directory" in told.err
    assert told.out == "The book's own notebook opens. It shows the outputs of its predictions.\n"


@pytest.mark.parametrize("name", ["02.1", "strides", STRIDES, f"{STRIDES}/lab.ipynb", f"{STRIDES}/answer.py"])
def test_an_exercise_is_opened_as_the_readers_own_copy(
    clone: Path, strides: Exercise, name: str, capsys: Output
) -> None:
    assert choose(clone, name, answer=False) == strides.my_lab
    out = " ".join(capsys.readouterr().out.split())
    assert f"Started 02.1, About strides: made {STRIDES}/answer.py and {STRIDES}/my_lab.ipynb." in out
    assert out.endswith("Then: `workbook check 02.1`")
    assert load(clone).of(strides).started
    strides.answer.write_text("mine\n")
    choose(clone, name, answer=False)
    assert "Started" not in capsys.readouterr().out
    assert strides.answer.read_text() == "mine\n"


def test_the_answer_itself_is_opened_where_that_is_asked(clone: Path, strides: Exercise) -> None:
    assert choose(clone, "02.1", answer=True) == strides.answer


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("chapters/99", False, "is not in .*\n  name a chapter or a notebook of this clone"),
        ("../elsewhere", False, "is not in "),
        ("chapters/00-start", True, "chapters/00-start is not an exercise"),
        ("exercises/02-tensor-storage", True, "is not an exercise"),
        (None, True, "--answer needs an exercise"),
    ],
)
def test_what_cannot_be_opened_is_told(clone: Path, name: str | None, answer: bool, words: str) -> None:
    with pytest.raises(CommandError, match=words):
        choose(clone, name, answer=answer)


def test_a_name_that_no_exercise_has_gets_the_nearest_ones_and_how_sections_are_opened(clone: Path) -> None:
    with pytest.raises(UnknownExercise, match=r"(?s)02\.1  strides.*by its file, for example chapters/"):
        choose(clone, "strids", answer=False)


@pytest.mark.parametrize("answer", [False, True])
def test_jupyterlab_runs_with_our_settings(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    started: list[tuple[list[str], Mapping[str, str]]] = []
    monkeypatch.setattr(commands, "root", lambda: clone)
    monkeypatch.setattr(targets, "hand_over", lambda command, environment: started.append((command, environment)) or 0)
    with pytest.raises(typer.Exit):
        open_lab("02.1", answer=answer, browser=False)
    ((command, environment),) = started
    opened = "answer.py" if answer else "my_lab.ipynb"
    assert f"--LabApp.default_url=/lab/tree/{STRIDES}/{opened}" in command
    settings = Path(environment["JUPYTER_CONFIG_PATH"].split(":")[0]) / "labconfig" / "default_setting_overrides.json"
    viewers = json.loads(settings.read_text())["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]
    assert viewers["markdown"] == "Markdown Preview"  # saved as a notebook, a section's text would be rewritten
    assert ("python" in viewers) == answer
