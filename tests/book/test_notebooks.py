"""Is a notebook what its text says, the same bytes each time, and does a broken one say what is wrong?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.book.small_book import HEADER, ROOT, SmallBook
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


def cell(code: str, *tags: str, **options: object) -> str:
    declared = {"tags": list(tags)} | options if tags else options
    head = f"---\n{json.dumps(declared)}\n---\n" if declared else ""
    return f"```{{code-cell}}\n{head}{code}\n```\n\n"


def asking(code: str, question: str = "What is it?", kind: str = "number", *tags: str, **options: object) -> str:
    return cell(code, "predict", *tags, question=question, kind=kind, **options)


def built(book: SmallBook, text: str, name: str = "section") -> Path:
    source = book.section(text, name)
    assert build([source], book.root) == []
    return source


def error_of(book: SmallBook, text: str) -> str:
    problems = build([book.section(text)], book.root)
    assert len(problems) == 1
    return str(problems[0])


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
        (cell("1", "predict"), "cell 1 has no question\n  accepted: `question: "),
        (asking("1", kind="maybe", answer="1"), "cell 1 has kind: maybe\n  accepted: choice, several"),
        (asking("1", kind="choice", answer="1"), "has choices: None\n  accepted: two or more for choice"),
        (asking("1", answer="1", choices=[1, 2]), "has choices: [1, 2]\n  accepted: two or more for choice"),
        (asking("1", kind="choice", answer="1", choices=[1, 2, " 1"]), "has the choice 1 twice"),
        (asking("1"), "has answer: None\n  accepted: an expression"),
        (asking("1", kind="open", answer="1"), "has answer: 1\n  accepted: an expression"),
        (asking("1", answer="1", tolerance=-1), "has tolerance: -1\n  accepted: a number above 0"),
        (asking("1", answer="1", kind="text", tolerance=1), "has tolerance: 1\n  accepted: a number above 0"),
        (asking("1", answer="1", hint="x"), "has the option 'hint'\n  known options: tags, question"),
        (cell("1", question="What?"), "has the option 'question'\n  accepted: with the tag predict only"),
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


# --- questions ----------------------------------------------------------------------------------------------


def value_of(book: SmallBook, *cells: str) -> str:
    """The value of the answer in the last cell of a section with these cells."""
    notebook = json.loads(built(book, "".join(cells)).with_suffix(".ipynb").read_text(encoding="utf-8"))
    return notebook["cells"][-1]["metadata"]["prediction"]["value"]


def test_the_cell_that_asks_stands_above_and_is_empty(book: SmallBook) -> None:
    notebook = json.loads(built(book, asking("6 * 7", answer="shown")).with_suffix(".ipynb").read_text())
    ask, predict = notebook["cells"]
    assert "".join(ask["source"]).startswith('# Predict: What is it?\nimport workbook\n\nworkbook.predict("')
    assert ask["metadata"]["tags"] == ["ask", "nbval-ignore-output"]
    assert (ask["outputs"], ask["execution_count"], predict["execution_count"]) == ([], 1, 2)
    assert "widgets" not in notebook["metadata"]


@pytest.mark.parametrize(
    ("code", "answer", "value"),
    [
        ("hops = [1, 2]", "len(hops)", "2"),
        ("print('a b')", "printed.split()[0]", "'a'"),
        ("(2, 1)", "shown", "(2, 1)"),
        ("x = 3", "shown", "None"),
        ("import numpy as np\nx = np.int64(3)", "{int(x), 'b', 'a'}", "{'a', 'b', 3}"),
        (
            "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    caught = e",
            "type(caught).__name__",
            "'ZeroDivisionError'",
        ),
    ],
)
def test_an_answer_is_evaluated_after_its_cell(book: SmallBook, code: str, answer: str, value: str) -> None:
    assert value_of(book, asking(code, kind="text", answer=answer)) == value


def test_an_answer_may_name_what_was_raised(book: SmallBook) -> None:
    raising = asking("1 / 0", "What is raised?", "text", "failure", answer="type(error).__name__")
    assert value_of(book, cell("[][0]", "failure"), raising) == "'ZeroDivisionError'"


def test_an_answer_changes_nothing_for_the_cells_below(book: SmallBook) -> None:
    text = cell("7") + asking("x = 1", answer="x") + cell("_, 'workbook' in globals(), 'printed' in globals()")
    notebook = json.loads(built(book, text).with_suffix(".ipynb").read_text())
    assert notebook["cells"][-1]["outputs"][0]["data"]["text/plain"] == ["(7, True, False)"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (asking("x = 1", kind="choice", choices=[2, 3], answer="x"), "is 1, which is not one of the choices\n"),
        (asking("x = 1", kind="choice", choices=["True", 3], answer="x"), "is 1, which is not one of the choices"),
        (asking("x = 1", kind="several", choices=[2, 3], answer="[x]"), "is 1, which is not one of the choices"),
        (asking("x = 1", kind="several", choices=[1, 3], answer="x"), "is 1\n  accepted: a list of choices"),
        (asking("x = '1'", answer="x"), "is '1'\n  accepted: a number"),
        (asking("x = True", answer="x"), "is True\n  accepted: a number"),
        (asking("x = 'a' * 41", kind="text", answer="x"), "accepted: one line of at most 40 characters"),
        (asking("x = 'a\\nb'", kind="text", answer="x"), "accepted: one line of at most 40 characters"),
        (asking("x = 1", answer="y"), "code cell 1: its answer y raised\n  NameError: name 'y' is not defined"),
        (asking("x = 1", answer="x +"), "its answer x + raised\n  SyntaxError"),
        (asking("x = object()", kind="text", answer="x"), "its answer x raised\n  TypeError: accepted: numbers, text"),
    ],
)
def test_an_answer_that_cannot_be_asked_for_fails_the_build(book: SmallBook, text: str, said: str) -> None:
    assert said in error_of(book, text)


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
