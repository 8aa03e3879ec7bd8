"""Is a committed notebook held to its text, and told what is wrong with it?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.book.small_book import HEADER, ROOT, SAMPLE, SmallBook, built, cell
from workbook.book.errors import BookError
from workbook.book.notebook_checks import check_in_step
from workbook.book.notebook_text import as_text, notebook_sources


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


@pytest.mark.parametrize("source", notebook_sources(ROOT), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_committed_notebook_is_in_step_and_executed(source: Path) -> None:
    notebook = check_in_step(source)
    assert as_text(notebook) == source.with_suffix(".ipynb").read_text(encoding="utf-8")
