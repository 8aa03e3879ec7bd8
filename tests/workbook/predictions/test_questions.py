"""Are the questions of the book read in its order, and is a notebook that cannot be read named?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbook.predictions.asking_book import QUESTIONS, SECTION, make_book, notebook
from workbook.predictions.questions import questions

Output = pytest.CaptureFixture[str]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A clone whose book asks."""
    return make_book(tmp_path)


def test_questions_come_in_the_order_of_the_navigation(book: Path) -> None:
    make_book(book, "04-autograd/engine", QUESTIONS[:1])
    assert [one.section for one in questions(book)] == [SECTION] * 5 + ["04-autograd/engine"]


def test_a_notebook_of_an_older_book_asks_nothing(book: Path, capsys: Output) -> None:
    (book / "chapters" / "04-autograd" / "old.ipynb").write_text(
        '{"cells": [{"cell_type": "code", "source": "1", "metadata": {}, "outputs": []}]}'
    )
    assert len(questions(book)) == 5
    assert capsys.readouterr().err == ""


HALF = json.dumps(notebook(QUESTIONS[1:2]))[:-100].encode()
CELL = '{"cell_type": "code", "source": "1", "outputs": [], "metadata": %s}'
DAMAGED = {
    "empty": b"",
    "half": HALF,
    "conflict": b"<<<<<<< HEAD\n{}\n=======\n",
    "list": b"[]",
    "bytes": b"\xff\xfe{",
    "cells": b'{"cells": 3}',
    "metadata": f'{{"cells": [{CELL % "null"}]}}'.encode(),
    "value": f'{{"cells": [{CELL % json.dumps({"prediction": QUESTIONS[0] | {"value": "("}})}]}}'.encode(),
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_notebook_is_named_with_the_ways_back_and_the_others_are_asked(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, name: str
) -> None:
    (book / "chapters" / "04-autograd" / "broken.ipynb").write_bytes(DAMAGED[name])
    monkeypatch.chdir(book)
    assert len(questions(book)) == len(questions(book)) == 5
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("workbook: chapters/04-autograd/broken.ipynb cannot be read: it is not a notebook any more.")
    assert "`git checkout chapters/04-autograd/broken.ipynb`" in said
    assert "notebooks chapters/04-autograd/broken.md`" in said
    assert said.count("cannot be read") == 1


def test_a_notebook_that_may_not_be_read_is_named_with_the_reason(book: Path, capsys: Output) -> None:
    (book / "chapters" / "04-autograd" / "broken.ipynb").mkdir()
    assert len(questions(book)) == 5
    assert "broken.ipynb cannot be read: Is a directory." in " ".join(capsys.readouterr().err.split())
