"""Does what `workbook dev new` makes have its form, and is it told to be unwritten?"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from tests.book.test_sections import PARTS
from workbook import new
from workbook.book.notebooks import build, read_text
from workbook.commands import CommandError
from workbook.exercises.catalogue import FORMS, exercises, find
from workbook.exercises.form import PAGE, form_problems

Output = pytest.CaptureFixture[str]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with one exercise."""
    for name in ("chapters", "exercises/solutions"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("02-tensor-storage/01_strides", "solutions/02-tensor-storage/01_strides"):
        shutil.copytree(ROOT / "exercises" / name, tmp_path / "exercises" / name)
    (tmp_path / "mkdocs.yml").touch()
    (tmp_path / "reference").symlink_to(ROOT / "reference")
    return tmp_path


def test_a_new_section_has_its_parts_and_can_be_built(clone: Path, capsys: Output) -> None:
    assert new.new_section(clone, "02-tensor-storage/holes", "What about holes?") == 0
    path = clone / "chapters" / "02-tensor-storage" / "holes.md"
    assert "mkdocs.yml" in capsys.readouterr().out
    text = path.read_text()
    assert "# What about holes?\n" in text
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [heading for heading in headings if heading in PARTS] == list(PARTS)
    assert build([path], clone) == []
    question = next(cell.metadata["prediction"] for cell in read_text(path).cells if "prediction" in cell.metadata)
    assert question["answer"] == "t[1:].stride()"


@pytest.mark.parametrize("form", FORMS)
def test_a_new_exercise_has_all_files_and_is_not_written_yet(clone: Path, form: str) -> None:
    section = "02-tensor-storage/one-buffer-many-views"
    assert new.new_exercise(clone, "02-tensor-storage/holes", "A hole", form, section) == 0
    exercise = find(clone, "02.2")
    assert (exercise.title, exercise.form, exercise.section) == ("A hole", form, section)
    problems = form_problems(clone, exercise, exercises(clone))
    unwritten = {problem.split()[0] for problem in problems if problem.endswith("still says WRITE")}
    assert unwritten >= {"exercise.toml", "start.py", "check_holes.py", "hints.md", "lab.md", "solution.py"}
    assert not [problem for problem in problems if "missing" in problem and "lab.ipynb" not in problem]


def test_the_solution_of_a_new_exercise_gives_what_its_stub_shows(clone: Path) -> None:
    new.new_exercise(clone, "02-tensor-storage/holes", "A hole", "write", None)
    exercise = find(clone, "02.2")
    said = "\n".join(form_problems(clone, exercise, exercises(clone)))
    assert "an example of" not in said
    assert "the stub has" not in said
    assert "columns; its page" not in said


def test_the_files_of_a_new_exercise_say_what_belongs_into_its_form(clone: Path, capsys: Output) -> None:
    said: dict[str, set[str]] = {}
    for form in FORMS:
        new.new_exercise(clone, "02-tensor-storage/holes", "A hole", form, None)
        assert f"Its form is {form}. {FORMS[form]}" in " ".join(capsys.readouterr().out.split())
        exercise = find(clone, "holes")
        files = (exercise.facts, exercise.start, exercise.check, exercise.hints_file, exercise.solution)
        said[form] = {line for file in files for line in file.read_text().splitlines() if "WRITE: " in line}
        assert max(map(len, exercise.start.read_text().splitlines())) <= PAGE
        for folder in (exercise.folder, exercise.solutions):
            shutil.rmtree(folder)
    for form in new.WORDS:
        others = set().union(*(said[other] for other in new.WORDS if other != form))
        assert len(said[form] - others) == len(new.WORDS[form])


def test_what_each_form_is_stands_in_contributing() -> None:
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    assert [form for form, what in FORMS.items() if f"`{form}`: {what[0].lower()}{what[1:]}" not in text] == []


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda root: new.new_section(root, "hooks", "x"), "'hooks' is not the place of something new\n  accepted: "),
        (lambda root: new.new_section(root, "../x/y", "x"), "is not the place of something new"),
        (
            lambda root: new.new_exercise(root, "02-x/y", "x", "guess", None),
            "--form guess is not known\n  accepted: write",
        ),
        (
            lambda root: new.new_exercise(root, "02-tensor-storage/strides", "x", "write", None),
            "has an exercise 'strides'",
        ),
    ],
)
def test_what_cannot_be_made_is_said(clone: Path, make, said: str) -> None:
    with pytest.raises(CommandError, match=said.replace("(", r"\(")):
        make(clone)


def test_what_is_there_is_not_written_over(clone: Path) -> None:
    new.new_section(clone, "02-tensor-storage/holes", "One")
    with pytest.raises(CommandError, match="is there already\n  nothing was written"):
        new.new_section(clone, "02-tensor-storage/holes", "Another")
    assert "# One\n" in (clone / "chapters" / "02-tensor-storage" / "holes.md").read_text()


def test_no_section_and_no_exercise_is_left_unwritten() -> None:
    texts = [
        *(ROOT / "chapters").rglob("*.md"),
        *(ROOT / "exercises").rglob("*.md"),
        *(ROOT / "exercises").rglob("*.toml"),
    ]
    assert [path.name for path in texts if re.search(r"\bWRITE:", path.read_text(encoding="utf-8"))] == []
