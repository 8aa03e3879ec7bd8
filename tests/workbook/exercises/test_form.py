"""Is each way in which an exercise can be malformed found and said?"""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workbook.exercises.copies import clone_with_repair, clone_with_strides
from workbook.book import notebook_checks
from workbook.exercises.catalogue import Exercise, exercises, find
from workbook.exercises.form import form_problems, signatures
from workbook.exercises.form import parsed as tree_of
from workbook.exercises.wrong import write_out


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    """Exercise 02.1 in a clone of its own."""
    return clone_with_strides(tmp_path)


def found(exercise: Exercise) -> list[str]:
    """What is to be mended in it."""
    root = exercise.folder.parents[2]
    again = find(root, exercise.identity)
    return form_problems(root, again, [again])


def change(path: Path, old: str, new: str) -> None:
    """Replace a text that stands in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_first_exercise_is_well_formed(exercise: Exercise) -> None:
    assert found(exercise) == []


# What is done to the exercise, and what is said about it
DAMAGES: dict[str, tuple[Callable[[Exercise], object], str]] = {
    "no hints": (lambda e: e.hints_file.unlink(), "hints.md is missing"),
    "no solution": (lambda e: e.solution.unlink(), "solution.py is missing"),
    "no section": (
        lambda e: change(e.facts, "one-buffer-many-views", "elsewhere"),
        "there is no chapters/02-tensor-storage/elsewhere.md",
    ),
    "a need that is not before": (
        lambda e: change(e.facts, "needs = []", 'needs = ["02.9"]'),
        "needs 02.9, which is not among those before it: none",
    ),
    "a test that is not there": (
        lambda e: change(e.facts, "test_carried", "test_lost"),
        "names tests/core/test_lost.py, which does not exist",
    ),
    "two hints": (lambda e: e.hints_file.write_text("## Hint 1\n\na\n\n## Hint 2\n\nb\n"), "hints.md: 2 hints"),
    "an empty hint": (lambda e: change(e.hints_file, "## Hint 2", "## Hint 2\n\n## Hint 3"), "hint 2 is empty"),
    "no percent format": (lambda e: change(e.start, "percent", "light"), "as a notebook, it does not begin with text"),
    "a head that would be a cell": (
        lambda e: change(e.start, "# jupyter:\n", ""),
        "as a notebook, it does not begin with text",
    ),
    "another heading": (lambda e: change(e.start, "# # 02.1", "# # 2.1"), "the heading `# # 02.1 Row-major strides`"),
    "a stub that does something": (
        lambda e: change(e.start, "raise NotImplementedError", "return ()"),
        "nothing raises NotImplementedError",
    ),
    "a stub that is no Python": (lambda e: change(e.start, "def ", "def: "), "start.py, line 28: invalid syntax"),
    "another signature": (
        lambda e: change(e.solution, "(shape:", "(sizes:"),
        "the solution has def contiguous_strides(sizes: ",
    ),
    "another name": (
        lambda e: change(e.solution, "def contiguous_strides", "def row_major"),
        "the solution has nothing of that name",
    ),
    "a graft of what is not asked": (
        lambda e: change(e.facts, 'answer = "contiguous_strides"', 'answer = "strides"'),
        "there is no strides, which exercise.toml grafts",
    ),
    "a wrong example": (lambda e: change(e.start, "    (12, 4, 1)", "    (1, 2, 6)"), "not what the solution gives"),
    "no example": (lambda e: change(e.start, ">>>", "..."), "no docstring has an example"),
    "a long line": (
        lambda e: change(e.start, "# Write the function", f"# {'x' * 80} Write the function"),
        " columns; its page on the site shows 79",
    ),
    "no docstring": (lambda e: change(e.start, '    """The', '    ...\n    """The'), "has no docstring"),
    "a test that asks nothing": (
        lambda e: change(e.check, '    """the strides of a tensor without dimensions"""\n', ""),
        "test_a_scalar has no docstring",
    ),
    "a check without tests": (lambda e: e.check.write_text('"""Nothing."""\n'), "check_strides.py: no test"),
    "one wrong answer": (
        lambda e: [path.unlink() for path in e.wrong_answers()[1:]],
        "1 wrong answers (wrong_*.diff beside the solution); at least 2",
    ),
    "a wrong answer that does not say why": (
        lambda e: change(e.solutions / "wrong_list.diff", "Gives a list instead of a tuple.\n\n", ""),
        "wrong_list.diff: its first line does not say what is wrong with it",
    ),
    "a rung that does not exist": (
        lambda e: change(e.solutions / "wrong_list.diff", "by: check", "by: tests"),
        "wrong_list.diff: `Refused by: tests`; it has to name a rung: check | lab | graft",
    ),
    "a wrong answer that does not apply": (
        lambda e: change(e.solutions / "wrong_list.diff", "-    return", "-    give"),
        "02.1` renumbers hunks whose lines have moved",
    ),
    "a wrong answer that is stored whole and would be shorter as a difference": (
        lambda e: write_out(e, "list"),
        "wrong_list.py is not in its stored form: run `workbook dev wrong 02.1`",
    ),
    "a wrong answer that is right": (
        lambda e: (e.solutions / "wrong_not.py").write_text(e.solution.read_text(encoding="utf-8"), encoding="utf-8"),
        "wrong_not.py: it is the solution",
    ),
    "a wrong answer in bad style": (
        lambda e: change(e.solutions / "wrong_scalar.py", "strides = [1]", "strides=[1]"),
        "ruff format: ",
    ),
    "a lab sheet out of step": (lambda e: change(e.lab_source, "## Play", "## Toy"), "out of step with its text"),
    "bad style": (lambda e: change(e.check, "import random\n", "import random\nimport os\n"), "ruff check: "),
    "bad layout": (lambda e: change(e.solution, "step = 1", "step=1"), "ruff format: "),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_malformed_is_said(exercise: Exercise, damage: str) -> None:
    do, words = DAMAGES[damage]
    do(exercise)
    assert words in "\n".join(found(exercise))


def test_a_lab_sheet_has_to_reload_the_answer(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = types.SimpleNamespace(cell_type="code", source="from answer import contiguous_strides")
    monkeypatch.setattr(notebook_checks, "check_in_step", lambda source: types.SimpleNamespace(cells=[cell]))
    lines = ("%load_ext autoreload", "%autoreload 2")
    assert found(exercise) == [f"lab.md: the first code cell has no `{line}`" for line in lines]


def test_the_first_lines_of_public_functions_classes_and_methods_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("class Node(Base):\n    def apply(self, g): ...\ndef _own(): ...\ndef f(x: int = 1) -> str: ...\n")
    assert signatures(tree_of(path)) == {
        "Node": "class Node(Base)",
        "Node.apply": "def apply(self, g)",
        "f": "def f(x: int=1) -> str",
    }


# --- a repair ---


@pytest.fixture
def repair(tmp_path: Path) -> Exercise:
    """The repair 02.4 in a clone of its own."""
    return clone_with_repair(tmp_path)


def found_in_repair(exercise: Exercise) -> list[str]:
    """What is to be mended in it."""
    every = exercises(exercise.folder.parents[2])
    return form_problems(exercise.folder.parents[2], every[-1], every)


def test_the_first_repair_is_well_formed(repair: Exercise) -> None:
    assert found_in_repair(repair) == []


def show_in_section(exercise: Exercise, symbol: str) -> None:
    """Let the section print a symbol of the library."""
    section = exercise.folder.parents[2] / "chapters" / f"{exercise.section}.md"
    section.write_text(f'```{{code-cell}}\nshow(\n    "glasstorch.kernels.views{symbol}"\n)\n```\n', encoding="utf-8")


REPAIR_DAMAGES: dict[str, tuple[Callable[[Exercise], object], str]] = {
    "no program that fails": (lambda e: e.symptom.unlink(), "symptom.py is missing"),
    "no fault": (lambda e: e.fault.unlink(), "fault.diff is missing"),
    "a fault that does not apply": (lambda e: change(e.fault, "+++ kernels", "+++ kernels\n@@"), "fault.diff: "),
    "a stub that does not name the program": (
        lambda e: change(e.start, "`symptom.py`", "a program"),
        "start.py: the program that fails, symptom.py, is not named",
    ),
    "a stub that names a place": (
        lambda e: change(e.start, 'FILE = ""', 'FILE = "kernels/views.py"'),
        'start.py: it has to have `FILE = ""` and `LINE = 0`',
    ),
    "a solution without a mend": (
        lambda e: change(e.solution, "def mended", "def mend"),
        "the solution has nothing of that name",
    ),
    "a program that does not fail": (
        lambda e: e.symptom.write_text('"""No."""\n'),
        "symptom.py: on the library with the fault it ends with 0, not 1: nothing on standard error",
    ),
    "a program that always fails": (
        lambda e: e.symptom.write_text('"""Yes."""\n\nraise SystemExit("it does")\n'),
        "symptom.py: on the library without the fault it ends with 1, not 0: it does",
    ),
    "a function that a section prints": (
        lambda e: show_in_section(e, ".view_dtype"),
        "fault.diff: view_dtype is printed in 02-tensor-storage/one-buffer-many-views.md",
    ),
    "a module that a section prints": (lambda e: show_in_section(e, ""), "fault.diff: view_dtype is printed in"),
    "a carried test with the name of the file": (
        lambda e: change(e.facts, "tests/core/test_carried.py", "tests/kernels/test_views.py"),
        "[carries] tests names tests/kernels/test_views.py, which tells that the fault is in views.py",
    ),
    "an early hint with the function": (
        lambda e: change(e.hints_file, "## Hint 2\n", "## Hint 2\n\nLook at `view_dtype`."),
        "hints.md, hint 2: view_dtype tells where the fault is",
    ),
    "a stub with the function": (
        lambda e: change(e.start, "# %% [markdown]\n# #", "# %% [markdown]\n# It is not view_dtype.\n#\n# #"),
        "start.py: view_dtype tells where the fault is",
    ),
    "a program with the module": (
        lambda e: e.symptom.write_text("# glasstorch.kernels.views\n" + e.symptom.read_text(encoding="utf-8")),
        "symptom.py: glasstorch.kernels.views tells where the fault is",
    ),
    "a sheet with the file": (
        lambda e: change(e.lab_source, "## Play", "Look into kernels/views.py.\n\n## Play"),
        "lab.md: kernels/views.py tells where the fault is",
    ),
    "a title with the function": (
        lambda e: change(e.facts, 'title = "', 'title = "view_dtype: '),
        "exercise.toml: view_dtype tells where the fault is",
    ),
    "a function that another exercise asks for": (
        lambda e: change(
            find(e.folder.parents[2], "02.1").facts,
            "glasstorch.core.geometry:contiguous_strides",
            "glasstorch.kernels.views:view_dtype",
        ),
        "fault.diff: view_dtype is what 02.1 asks for",
    ),
}


@pytest.mark.parametrize("damage", REPAIR_DAMAGES)
def test_what_is_malformed_in_a_repair_is_said(repair: Exercise, damage: str) -> None:
    do, words = REPAIR_DAMAGES[damage]
    do(repair)
    assert words in "\n".join(found_in_repair(repair))


def test_a_section_may_print_other_functions_of_the_file(repair: Exercise) -> None:
    for other in (".view", ".view_dtypes", ".Class.view_dtype"):
        show_in_section(repair, other)
    assert found_in_repair(repair) == []


def test_a_sheet_of_a_repair_has_to_load_the_library_with_the_fault(
    repair: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = types.SimpleNamespace(cell_type="code", source="%load_ext autoreload\n%autoreload 2\nimport glasstorch")
    monkeypatch.setattr(notebook_checks, "check_in_step", lambda source: types.SimpleNamespace(cells=[cell]))
    assert found_in_repair(repair) == ["lab.md: the first code cell has no `torch = library()`"]
