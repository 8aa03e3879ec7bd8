"""Can the answer to an exercise be read off anything that the book shows before it?"""

from __future__ import annotations

import ast
import inspect
import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.book.leaks import (
    Text,
    code_in,
    free_names,
    leaks,
    texts_of_docstrings,
    texts_of_exercise,
    texts_of_notebook,
)
from tests.book.small_book import ROOT
from workbook.book.api import room_pages
from workbook.book.operator_pages import family_pages
from workbook.book.showing import Shown
from workbook.book.withheld import library
from workbook.exercises.catalogue import Exercise, exercises, find

EVERY = exercises(ROOT)
ASKING = [
    exercise
    for exercise in EVERY
    if all(piece.target for piece in exercise.pieces)  # else it is about a function that anybody may read: where it is
]
CHAPTERS = ROOT / "chapters"
SECTIONS = sorted(CHAPTERS.glob("[0-9][0-9]-*/*.ipynb"))
REWRITTEN = tomllib.loads((ROOT / "tests" / "book" / "rewritten.toml").read_text(encoding="utf-8"))["cell"]


def test_no_section_gives_an_answer_away() -> None:
    texts = [text for path in SECTIONS for text in texts_of_notebook(path, path.relative_to(CHAPTERS).as_posix())]
    assert leaks(ASKING, texts) == []


@pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.identity)
def test_no_sheet_stub_early_hint_or_page_of_an_exercise_gives_an_answer_away(exercise: Exercise) -> None:
    assert leaks([*ASKING, exercise], texts_of_exercise(exercise, EVERY, ROOT)) == []


def test_no_page_of_the_reference_gives_an_answer_away() -> None:
    pages = (Text(path, page) for path, page in room_pages(ROOT).items())
    assert leaks(ASKING, [*texts_of_docstrings(library()), *pages]) == []


@pytest.mark.ci
def test_no_page_of_operators_gives_an_answer_away() -> None:
    assert leaks(ASKING, [Text(path, page) for path, page in family_pages(ROOT).items()]) == []


def test_the_reference_quotes_no_source() -> None:
    assert "show_source: false" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_no_other_page_gives_an_answer_away() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "exercises" / "README.md",
        *CHAPTERS.glob("*.md"),
        *CHAPTERS.glob("[er]*/**/*.md"),
    ]
    assert len(pages) > 5
    texts = [Text(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in pages]
    assert leaks(ASKING, texts) == []


@pytest.mark.parametrize("row", REWRITTEN, ids=lambda row: f"{row['exercise']} {row['section']}")
def test_a_cell_that_rewrites_an_answer_is_where_the_list_says(row: dict[str, str]) -> None:
    notebook = json.loads((CHAPTERS / f"{row['section']}.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]).splitlines() for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert any(row["line"] in cell for cell in cells), (
        f"no cell of {row['section']} has the line {row['line']!r}: read the section again. Delete the row in "
        "tests/book/rewritten.toml if nothing there rewrites the answer any more, or name the cell that does"
    )
    assert find(ROOT, row["exercise"]).identity == row["exercise"]
    assert row["reason"].endswith(".")


def test_every_fence_of_python_in_an_early_hint_is_compared() -> None:
    for exercise in EVERY:
        for hint in exercise.hints()[:3]:
            assert hint.count("```python") <= len(list(code_in(hint))), f"{exercise.identity}: not Python"


# --- does the test find what it is there to find? -----------------------------------------------------------------

STRIDES = find(ROOT, "02.1")
OVERLAP = find(ROOT, "02.3")
ROWS = find(ROOT, "05.1")


def source_of(symbol: str) -> str:
    """The library's source."""
    from workbook.book.named import named

    return inspect.getsource(inspect.unwrap(named(symbol)))  # type: ignore[arg-type]


def planted(tmp_path: Path, exercise: Exercise, **cell: object) -> list[str]:
    """What is found in a notebook with one more cell."""
    cells = [{"cell_type": "code", "source": "1 + 1", "outputs": []}, {"outputs": [], "source": "", **cell}]
    path = tmp_path / "planted.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return leaks([exercise], texts_of_notebook(path, "planted"))


def output(shown: Shown) -> dict[str, object]:
    """A cell that displays something."""
    return {"cell_type": "code", "outputs": [{"output_type": "display_data", "data": shown._repr_mimebundle_()[0]}]}


def solution_of(exercise: Exercise) -> str:
    """Our solution."""
    return exercise.solution.read_text(encoding="utf-8")


def test_a_quotation_is_found(tmp_path: Path) -> None:
    source = source_of("glasstorch.core.geometry.contiguous_strides")
    quote = Shown("quote", "glasstorch/core/geometry.py, contiguous_strides", (("python", source),))
    found = planted(tmp_path, STRIDES, **output(quote))
    assert "planted, cell 2, output: quotes contiguous_strides, which 02.1 asks for" in found[0]


def test_a_quotation_of_a_class_that_contains_what_is_asked_for_is_found(tmp_path: Path) -> None:
    source = source_of("glasstorch.dispatch.operator.DispatchTable")
    quote = Shown("quote", "glasstorch/dispatch/operator.py, DispatchTable", (("python", source),))
    found = planted(tmp_path, find(ROOT, "03.3"), **output(quote))
    assert "quotes DispatchTable.__missing__" in found[0]


def test_a_short_function_that_is_printed_without_a_caption_is_found(tmp_path: Path) -> None:
    printed = {"output_type": "stream", "text": source_of("glasstorch.devices.blocks.should_split")}
    found = planted(tmp_path, find(ROOT, "05.3"), cell_type="code", outputs=[printed])
    assert len(found) == 1
    assert "defines should_split, which 05.3 asks for" in found[0]


@pytest.mark.parametrize("exercise", ASKING, ids=lambda exercise: exercise.identity)
def test_a_solution_is_found(exercise: Exercise, tmp_path: Path) -> None:
    assert planted(tmp_path, exercise, cell_type="code", source=solution_of(exercise)) != []


def test_a_solution_under_other_names_is_found_in_a_cell_of_its_own(tmp_path: Path) -> None:
    cell = (
        "steps: list[int] = []\nahead = 1\nfor count in reversed(sizes):\n"
        '    """Not a statement."""\n    steps.append(ahead)\n    ahead *= count or 1\nprint(steps)\n'
    )
    (found,) = planted(tmp_path, STRIDES, cell_type="code", source=cell)
    assert "4 statements of contiguous_strides" in found
    for old, new in (("ahead = 1", "ahead = 2"), ("reversed", "sorted"), ("append", "extend")):
        other = cell.replace(old, new).replace("ahead *= count or 1", "ahead *= count")
        assert planted(tmp_path, STRIDES, cell_type="code", source=other) == [], new


def test_only_what_a_definition_binds_may_have_another_name() -> None:
    (node,) = ast.parse("def f(a):\n    b = g(a)\n    return len(b)").body
    assert {"g", "len"} <= free_names(node)
    assert not {"a", "b"} & free_names(node)


def test_an_answer_in_prose_is_found_in_its_fence(tmp_path: Path) -> None:
    for fence in ("```python\n{}\n```\n", "> ```python\n{}\n> ```\n"):
        source = source_of("glasstorch.core.geometry.overlap_status")
        assert planted(tmp_path, OVERLAP, cell_type="markdown", source="Look:\n\n" + fence.format(source)) != []


def test_cuda_is_found_whatever_its_spaces_and_comments(tmp_path: Path) -> None:
    text = (library() / "kernels" / "cuda" / "rows.cuh").read_text(encoding="utf-8")
    body = text[text.index("const int warps") : text.index("state = of_line[0]")].replace("  ", " ")
    for source in (f'TEXT = r"""\n{body}\n"""', f"print(1)  # or\nTEXT = '''{body}'''"):
        (found,) = planted(tmp_path, ROWS, cell_type="code", source=source)
        assert "4 statements of CUDA C++, which 05.1 asks for" in found
    given = text[text.index("struct Rows") : text.index("  // The combined")]
    assert planted(tmp_path, ROWS, cell_type="code", source=f'TEXT = r"""\n{given}\n"""') == []


@pytest.mark.parametrize("spaces", ["{}", "- op: other\n  self: {}", "`{}`"])
def test_a_formula_is_found_in_a_row_and_in_prose(spaces: str, tmp_path: Path) -> None:
    solution = tmp_path / "solutions" / "solution.py"
    solution.parent.mkdir()
    solution.write_text("def mine(grad, result):\n    return grad * (1 - result * result)\n", encoding="utf-8")
    piece = replace(STRIDES.pieces[0], kind="formula", target="sqrt.self", answer="mine")
    exercise = replace(STRIDES, pieces=(piece,), solutions=solution.parent)
    for formula in ("grad / (2 * conjugate(result))", "grad*(1 - result*result)"):
        found = planted(tmp_path, exercise, cell_type="markdown", source=spaces.format(formula))
        assert any("the formula, which 02.1 asks for" in said for said in found), formula
    assert planted(tmp_path, exercise, cell_type="markdown", source="grad / 2") == []


def early(exercise: Exercise, root: Path) -> Iterator[Text]:
    return texts_of_exercise(exercise, EVERY, root)


@pytest.mark.parametrize(("number", "refused"), [(1, True), (3, True), (4, False)])
def test_the_first_three_hints_are_read_and_no_more(number: int, refused: bool, tmp_path: Path) -> None:
    hints = [f"## Hint {n}\n\nLook.\n" for n in range(1, 5)]
    body = "\n".join(solution_of(STRIDES).splitlines()[1:])
    hints[number - 1] = f"## Hint {number}\n\n```python\n{body}\n```\n"
    (tmp_path / "hints.md").write_text("# Hints\n\n" + "\n".join(hints), encoding="utf-8")
    (tmp_path / "start.py").write_text(STRIDES.start.read_text(encoding="utf-8"), encoding="utf-8")
    exercise = replace(STRIDES, folder=tmp_path)
    assert bool(leaks([STRIDES], early(exercise, ROOT))) is refused


def test_a_docstring_with_an_answer_in_its_doctest_is_found(tmp_path: Path) -> None:
    lines = [
        "strides = []",
        "step = 1",
        "for size in reversed(shape):",
        "    strides.append(step)",
        "    step *= size or 1",
    ]
    doctest = "".join(f"    {'...' if line[0] == ' ' else '>>>'} {line}\n" for line in lines)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "a.py").write_text(f'"""A.\n\n{doctest}"""\n', encoding="utf-8")
    assert leaks([STRIDES], texts_of_docstrings(tmp_path / "package")) != []
