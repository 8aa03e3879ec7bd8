"""Is a notebook what its text says, the same bytes each time, and does a broken one say what is wrong?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.book.small_book import HEADER, ROOT, SmallBook, asking, built, cell, error_of
from workbook.book.errors import BookError
from workbook.book.notebooks import (
    as_text,
    build,
    check_in_step,
    is_notebook_source,
    main,
    notebook_sources,
    read_text,
    short_path,
)

SAMPLE = (
    "# Title\n\n"
    + cell("import numpy as np\nnp.arange(3)")
    + "Words.\n\n"
    + cell("print('out')\nimport sys\nprint('err', file=sys.stderr)\nprint('out again')")
    + cell("1 / 0", "failure")
    + asking("6 * 7", answer="shown")
)


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


# --- in step ------------------------------------------------------------------------------------------------


def test_a_fresh_notebook_is_in_step(book: SmallBook) -> None:
    check_in_step(built(book, SAMPLE))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("6 * 7", "6 * 8"), "cell 7 differs\n    notebook: 6 * 7\n    text:     6 * 8"),
        (lambda text: text.replace("it?", "that?"), "cell 6 differs\n    notebook: # Predict: What is it?\n"),
        (lambda text: text.replace("shown", "printed"), "cell 7 differs"),
        (lambda text: text + "More words.\n", "7 cells, the text has 8"),
        (lambda text: text.replace("Words.", "Other words."), "notebook: Words."),
    ],
)
def test_a_changed_text_is_refused(book: SmallBook, change, said: str) -> None:
    source = built(book, SAMPLE)
    source.write_text(change(source.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BookError) as caught:
        check_in_step(source)
    message = str(caught.value)
    assert said in message
    assert "python -m workbook.book.notebooks" in message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"execution_count": 2', '"execution_count": null', "code cell 2 was not executed in order"),
        ('"language_info": {', '"signature": "x",\n  "language_info": {', "not as the builder writes it"),
        ('"cells": [', '"cells":  [', "not as the builder writes it"),
        ('{\n "cells"', "cells", "not a notebook"),
        (',\n     "value": "42"', "", "code cell 5 has a question without the value of its answer"),
    ],
)
def test_an_edited_notebook_is_refused(book: SmallBook, old: str, new: str, said: str) -> None:
    source = built(book, SAMPLE)
    notebook = source.with_suffix(".ipynb")
    text = notebook.read_text(encoding="utf-8")
    assert old in text
    notebook.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BookError, match=said):
        check_in_step(source)


def test_an_unexpected_error_in_a_notebook_is_refused(book: SmallBook) -> None:
    source = built(book, cell("1 / 0", "failure"))
    notebook = source.with_suffix(".ipynb")
    raised = json.loads(notebook.read_text(encoding="utf-8"))
    raised["cells"][0]["metadata"] = {}
    source.write_text(HEADER + cell("1 / 0"), encoding="utf-8")
    notebook.write_text(json.dumps(raised), encoding="utf-8")
    with pytest.raises(BookError, match="code cell 1 raised"):
        check_in_step(source)


def test_a_missing_notebook_is_refused(book: SmallBook) -> None:
    with pytest.raises(BookError, match=r"section\.ipynb: missing\n  run: python -m workbook\.book\.notebooks"):
        check_in_step(book.section("# Title"))


def test_a_stale_output_is_found_by_executing_again(book: SmallBook, capsys: pytest.CaptureFixture[str]) -> None:
    source = built(book, cell("print(2)"))
    notebook = source.with_suffix(".ipynb")
    notebook.write_text(notebook.read_text(encoding="utf-8").replace('"2\\n"', '"3\\n"'), encoding="utf-8")
    assert main(["--in-step", str(source)]) == 0
    assert main(["--check", str(source)]) == 1
    said = capsys.readouterr().err
    assert "executing it again gives a different notebook" in said
    assert '-      "3\\n"' in said


# --- broken notebooks ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (cell("1", "solutoin"), "has the tag 'solutoin'\n  known tags: answer, failure"),
        ("```{code-cell}\nx = 1\n\nWords.\n\n```{code-cell}\ny = 2\n```\n", "close the fence of the cell above it"),
        ("```{code-cell}\n:tags: [unclosed\n\nx\n```\n", "cannot be read as a MyST notebook"),
    ],
)
def test_a_text_that_is_no_notebook_is_refused(book: SmallBook, text: str, said: str) -> None:
    with pytest.raises(BookError) as caught:
        read_text(book.section(text))
    assert said in str(caught.value)
    assert str(caught.value).startswith("chapters/section.md: ")


def test_one_broken_section_does_not_stop_the_others(book: SmallBook) -> None:
    bad, good = book.section(cell("1 / 0"), "bad"), book.section(cell("1"), "good")
    problems = build([bad, good], book.root)
    assert [str(problem).partition(":")[0] for problem in problems] == ["chapters/bad.md"]
    assert good.with_suffix(".ipynb").is_file()


# --- which files --------------------------------------------------------------------------------------------


def test_plain_pages_are_not_notebooks(book: SmallBook) -> None:
    plain = book.root / "chapters" / "plain.md"
    plain.write_text("---\ntitle: x\n---\n\njupytext: no\n", encoding="utf-8")
    section = book.section("# Title")
    assert not is_notebook_source(plain)
    assert notebook_sources(book.root) == [section.resolve()]
    assert notebook_sources(book.root, [section.with_suffix(".ipynb")]) == [section.resolve()]
    with pytest.raises(BookError, match="plain pages need no notebook"):
        notebook_sources(book.root, [plain])
    with pytest.raises(BookError, match="no such file"):
        notebook_sources(book.root, [book.root / "nothing.md"])


def test_outside_a_book_the_command_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--in-step", str(tmp_path)]) == 1
    assert "no book found at or above" in capsys.readouterr().err


@pytest.mark.parametrize("source", notebook_sources(ROOT), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_committed_notebook_is_in_step_and_executed(source: Path) -> None:
    notebook = check_in_step(source)
    assert as_text(notebook) == source.with_suffix(".ipynb").read_text(encoding="utf-8")
