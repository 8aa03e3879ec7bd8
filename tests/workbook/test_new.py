"""Does what `workbook dev new` makes have its form, and is it told to be unwritten?"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from tests.book.test_sections import PARTS
from workbook import new
from workbook.book.notebook_text import read_text
from workbook.book.notebooks import build
from workbook.commands import CommandError
from workbook.exercises.catalogue import FORMS, REPAIR, exercises, find
from workbook.exercises.form import PAGE, form_problems
from workbook.exercises.report import NOT_STARTED
from workbook.exercises.rungs import run_check

Output = pytest.CaptureFixture[str]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with one exercise."""
    for name in ("chapters/02-tensor-storage", "exercises/solutions"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("02-tensor-storage/01_strides", "solutions/02-tensor-storage/01_strides"):
        shutil.copytree(ROOT / "exercises" / name, tmp_path / "exercises" / name)
    (tmp_path / "mkdocs.yml").touch()
    (tmp_path / "reference").symlink_to(ROOT / "reference")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests" / "core").mkdir(parents=True)
    (tmp_path / "tests" / "core" / "test_geometry.py").touch()
    (tmp_path / "chapters" / "02-tensor-storage" / "one-buffer-many-views.md").touch()
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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [2, 10])
def test_of_a_new_exercise_only_that_is_to_be_mended_which_is_to_be_written(
    clone: Path, form: str, number: int
) -> None:
    (clone / "exercises" / "02-tensor-storage" / "01_strides").rename(
        clone / "exercises" / "02-tensor-storage" / f"{number - 1:02}_strides"
    )
    new.new_exercise(clone, "02-tensor-storage/holes", "A hole", form, "02-tensor-storage/one-buffer-many-views")
    exercise = find(clone, f"02.{number}")
    problems = form_problems(clone, exercise, exercises(clone))
    left = [problem for problem in problems if not problem.endswith("still says WRITE")]
    steps = ["wrong answers (wrong_*.diff", "lab.ipynb: missing"]  # what the printed steps bring
    steps += ["fault.diff: it changes 0 functions"] if form == REPAIR else []
    for step in steps:
        assert any(step in problem for problem in left), step
        left = [problem for problem in left if step not in problem]
    assert left == []


@pytest.mark.parametrize("form", [form for form in FORMS if form != REPAIR])
def test_the_solution_of_a_new_exercise_passes_its_check_and_its_stub_is_not_started(clone: Path, form: str) -> None:
    new.new_exercise(clone, "02-tensor-storage/holes", "A hole", form, "02-tensor-storage/one-buffer-many-views")
    exercise = find(clone, "02.2")
    facts = exercise.facts.read_text(encoding="utf-8")
    target = re.sub(r'geometry:WRITE[^"]*"', 'geometry:contiguous_strides"', facts)
    exercise.facts.write_text(target, encoding="utf-8")
    exercise = find(clone, "02.2")
    assert run_check(clone, exercise, exercise.solution, rungs=("check",), limit=60).failed is None
    failed = run_check(clone, exercise, exercise.start, rungs=("check",), limit=60).failed
    assert failed is not None
    assert failed.outcome == NOT_STARTED


def test_each_form_has_a_skeleton_of_its_own(clone: Path) -> None:
    texts = {}
    for form in FORMS:
        new.new_exercise(clone, "02-tensor-storage/holes", "A hole", form, None)
        exercise = find(clone, "holes")
        texts[form] = exercise.start.read_text(encoding="utf-8") + exercise.check.read_text(encoding="utf-8")
        for folder in (exercise.folder, exercise.solutions):
            shutil.rmtree(folder)
    assert "def _given(" in texts["hunt"]
    assert "counted(calls)" in texts["count"]
    assert "hops: list[tuple[int, str]]" in texts["explain"]


def test_what_comes_next_is_an_item_with_its_lines_below_its_first_word(
    clone: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    new.new_section(clone, "02-tensor-storage/holes", "Holes")
    lines = capsys.readouterr().out.splitlines()
    steps = lines[next(place for place, line in enumerate(lines) if line.startswith("1. ")) :]
    assert len(steps) > 3
    assert [line for line in steps if not line.startswith(("1. ", "2. ", "3. ", "   "))] == []


def test_the_files_of_a_new_exercise_say_what_belongs_in_its_form(clone: Path, capsys: Output) -> None:
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
    for form in FORMS:
        others = set().union(*(said[other] for other in FORMS if other != form))
        assert len(said[form] - others) >= len(["asks", "stub", "because", "solution", "nudge"])


def test_what_each_form_is_stands_in_contributing() -> None:
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    assert [form for form, what in FORMS.items() if f"`{form}`: {what[0].lower()}{what[1:]}" not in text] == []


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda root: new.new_section(root, "hooks", "x"), "'hooks' is not the place of something new\n  accepted: "),
        (lambda root: new.new_section(root, "../x/y", "x"), "is not the place of something new"),
        (
            lambda root: new.new_section(root, "99-nope/foo", "x"),
            "there is no chapter 99-nope\n  accepted: 02-tensor-storage; a new chapter begins with its folder",
        ),
        (lambda root: new.new_exercise(root, "99-nope/foo", "x", "write", None), "there is no chapter 99-nope"),
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
