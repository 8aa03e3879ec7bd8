"""Is a lab sheet built with the solution, and with nothing of the reader's?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbook.exercises.copies import clone_with_strides
from workbook.book.errors import BookError
from workbook.book.notebook_text import notebook_sources
from workbook.book.notebooks import build
from workbook.exercises.catalogue import Exercise
from workbook.exercises.labs import solved, solved_beside

SHEET = """---
jupytext:
  text_representation:
    format_name: myst
---

```{code-cell}
from answer import contiguous_strides

contiguous_strides((2, 3, 4))
```
"""


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    """A clone with one exercise in it, whose reader has begun."""
    found = clone_with_strides(tmp_path)
    found.answer.write_text("contiguous_strides = None\n", encoding="utf-8")
    found.my_lab.write_text("mine", encoding="utf-8")
    found.lab_source.write_text(SHEET, encoding="utf-8")
    return found


def test_the_copy_holds_the_solution_and_nothing_of_the_readers(exercise: Exercise) -> None:
    with solved(exercise) as folder:
        assert (folder / "answer.py").read_bytes() == exercise.solution.read_bytes()
        assert (folder / "check_strides.py").read_bytes() == exercise.check.read_bytes()
        assert not (folder / "my_lab.ipynb").exists()
    assert not folder.exists()
    assert exercise.answer.read_text(encoding="utf-8") == "contiguous_strides = None\n"


def test_the_notebook_shows_what_the_solution_gives_and_is_built_alike_again(
    exercise: Exercise, tmp_path: Path
) -> None:
    (source,) = notebook_sources(tmp_path)
    assert source == exercise.lab_source
    assert build([source], tmp_path) == []
    (cell,) = json.loads(exercise.lab.read_text(encoding="utf-8"))["cells"]
    assert cell["outputs"][0]["data"]["text/plain"] == ["(12, 4, 1)"]
    assert build([source], tmp_path, check=True) == []
    assert exercise.answer.read_text(encoding="utf-8") == "contiguous_strides = None\n"


def test_a_sheet_without_a_solution_says_what_to_write(exercise: Exercise) -> None:
    exercise.solution.unlink()
    with pytest.raises(BookError, match=r"no solution to run the lab sheet with\n  write .*solution\.py first"):
        with solved_beside(exercise.lab_source):
            raise AssertionError("not reached")


def test_a_sheet_beside_broken_facts_is_told(exercise: Exercise, tmp_path: Path) -> None:
    exercise.facts.write_text("title = ", encoding="utf-8")
    (problem,) = build([exercise.lab_source], tmp_path)
    assert "exercise.toml is not TOML" in str(problem)
