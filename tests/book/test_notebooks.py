"""Is a notebook the same bytes each time, and does a section that cannot be built say what is wrong?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.book.small_book import SAMPLE, SmallBook, built, cell, error_of
from workbook.book.notebook_text import read_text
from workbook.book.notebooks import build, main, short_path


def test_two_builds_in_two_folders_give_the_same_bytes(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "another"):
        source = built(SmallBook(tmp_path / name), SAMPLE)
        texts.append(source.with_suffix(".ipynb").read_bytes())
    assert texts[0] == texts[1]


def test_a_notebook_holds_outputs_counts_and_no_timestamps(book: SmallBook) -> None:
    notebook = json.loads(built(book, SAMPLE).with_suffix(".ipynb").read_text(encoding="utf-8"))
    code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    assert [c["execution_count"] for c in code] == [1, 2, 3, 4, 5]
    assert code[0]["outputs"][0]["data"]["text/plain"] == ["array([0, 1, 2])"]
    assert [(o["name"], "".join(o["text"])) for o in code[1]["outputs"]] == [
        ("stdout", "out\nout again\n"),
        ("stderr", "err\n"),
    ]
    assert code[2]["outputs"][0]["ename"] == "ZeroDivisionError"
    assert code[4]["metadata"] == {
        "jupyter": {"outputs_hidden": True},
        "prediction": {"answer": "shown", "kind": "number", "question": "What is it?", "value": "42"},
        "tags": ["predict"],
    }
    assert "timestamp" not in json.dumps(notebook)
    assert "execution" not in {key for c in code for key in c["metadata"]}


def test_a_failure_is_expected_by_the_tools_that_run_notebooks(book: SmallBook) -> None:
    notebook = read_text(book.section(cell("1 / 0", "failure")))
    assert notebook.cells[0].metadata["tags"] == ["failure", "raises-exception"]


def test_a_growing_output_is_stored_as_it_ends_and_not_compared_by_nbval(book: SmallBook) -> None:
    code = "place = display(1, display_id=True)\nfor number in range(2, 6):\n    place.update(number)"
    path = built(book, cell(code, "live")).with_suffix(".ipynb")
    (only,) = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert only["metadata"]["tags"] == ["live", "nbval-ignore-output"]
    (output,) = only["outputs"]
    assert (output["output_type"], output["data"]) == ("display_data", {"text/plain": ["5"]})


def test_cell_ids_come_from_content_and_are_unique(book: SmallBook) -> None:
    first = read_text(book.section(cell("x = 1") + cell("y = 2") + cell("x = 1"), "a"))
    second = read_text(book.section("New words.\n\n" + cell("x = 1"), "b"))
    ids = [c.id for c in first.cells]
    assert len(set(ids)) == 3
    assert ids[2] == f"{ids[0]}-2"
    assert second.cells[1].id == ids[0]


def test_a_traceback_names_no_folder_of_the_machine(book: SmallBook) -> None:
    code = "import json\njson.loads('nonsense')"
    notebook = built(book, cell(code, "failure")).with_suffix(".ipynb").read_text(encoding="utf-8")
    trace = json.loads(notebook)["cells"][0]["outputs"][0]["traceback"]
    assert trace[0] == "Traceback (most recent call last):"
    assert any(line.startswith("  json/decoder.py in ") for line in trace)
    assert not any("/lib/" in line or str(book.root) in line for line in trace)


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("{root}/reference/glasstorch/core/geometry.py", "glasstorch/core/geometry.py"),
        ("{root}/workbook/book/cells.py", "workbook/book/cells.py"),
        ("{root}/.venv/lib/python3.11/site-packages/numpy/_core/numeric.py", "numpy/_core/numeric.py"),
        ("/somewhere/site-packages/numpy/_core/numeric.py", "numpy/_core/numeric.py"),
        ("/somewhere/else/script.py", "script.py"),
    ],
)
def test_a_source_path_is_shortened_to_what_all_machines_share(tmp_path: Path, path: str, short: str) -> None:
    assert short_path(path.format(root=tmp_path), tmp_path) == short


def test_a_stale_output_is_found_by_executing_again(book: SmallBook, capsys: pytest.CaptureFixture[str]) -> None:
    source = built(book, cell("print(2)"))
    notebook = source.with_suffix(".ipynb")
    notebook.write_text(notebook.read_text(encoding="utf-8").replace('"2\\n"', '"3\\n"'), encoding="utf-8")
    assert main(["--in-step", str(source)]) == 0
    assert main(["--check", str(source)]) == 1
    said = capsys.readouterr().err
    assert "executing it again gives a different notebook" in said
    assert '-      "3\\n"' in said


def test_a_cell_that_raises_is_named_with_its_line_and_message(book: SmallBook) -> None:
    message = error_of(book, "# Title\n\n" + cell("x = 1") + cell("y = 2\nx + 'a'\nz = 3"))
    assert message.splitlines() == [
        "chapters/section.md:13: code cell 2 raised",
        "  TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "  at line 2 of the cell: x + 'a'",
        "  fix the cell and run: python -m workbook.book.notebooks chapters/section.md",
        "  (a cell that is meant to raise carries the tag `failure`)",
    ]


def test_a_broken_section_writes_nothing(book: SmallBook) -> None:
    error_of(book, cell("1 / 0"))
    assert not (book.root / "chapters" / "section.ipynb").exists()


@pytest.mark.parametrize(
    ("code", "tags", "said"),
    [
        ("1 + 1", ("failure",), "tagged `failure` but raised nothing"),
        ("object()", (), "prints '0x"),
        ("import os\nos.getcwd() + '/x'", (), "differs from run to run or from machine to machine"),
        ("1 +", (), "SyntaxError: invalid syntax"),
        ("import os\nos._exit(1)", (), "the kernel died"),
    ],
)
def test_what_a_cell_must_not_do_is_said(book: SmallBook, code: str, tags: tuple[str, ...], said: str) -> None:
    assert said in error_of(book, cell(code, *tags))


def test_a_failure_may_name_the_class_of_its_error(book: SmallBook) -> None:
    built(book, cell("1 / 0", "failure", raises="ZeroDivisionError"))
    said = error_of(book, cell("int('x')", "failure", raises="ZeroDivisionError"))
    assert "code cell 1 raised another error than ZeroDivisionError\n  ValueError: invalid literal" in said


def test_one_broken_section_does_not_stop_the_others(book: SmallBook) -> None:
    bad, good = book.section(cell("1 / 0"), "bad"), book.section(cell("1"), "good")
    problems = build([bad, good], book.root)
    assert [str(problem).partition(":")[0] for problem in problems] == ["chapters/bad.md"]
    assert good.with_suffix(".ipynb").is_file()


def test_outside_a_book_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--in-step", str(tmp_path)]) == 1
    assert "no book found at or above" in capsys.readouterr().err
