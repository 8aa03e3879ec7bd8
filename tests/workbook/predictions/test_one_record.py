"""Do the page, the notebook and the terminal write the same record?"""

from __future__ import annotations

import io
import json
import sys
from http import HTTPStatus
from pathlib import Path

import pytest

from tests.workbook.predictions.asking_book import QUESTIONS, RIGHT, WRONG, make_book
from tests.workbook.predictions.test_widget import ran
from workbook.predictions import pages, terminal
from workbook.predictions.questions import questions


@pytest.mark.parametrize(("answers", "grade"), [(RIGHT, "right"), (WRONG, "wrong")], ids=["right", "wrong"])
def test_the_three_ways_write_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: tuple[list[str], ...], grade: str
) -> None:
    books = {way: make_book(tmp_path / way) for way in ("page", "notebook", "terminal")}
    asked = questions(books["page"])

    for one, given in zip(asked, answers, strict=True):
        body = {"key": one.question.key, "given": given, "mark": grade}
        assert pages.write(books["page"], json.dumps(body).encode())[0] == HTTPStatus.OK

    asks = "".join(f"workbook.predict({one.question.identity!r})\n" for one in asked)
    commits = f"for form, given in zip(forms, {answers!r}): give(form, given); form.button.click()"
    ran(books["notebook"], asks, commits, f"forms[4].grades.children[{int(grade == 'wrong')}].click()")

    letters = ["abc"[QUESTIONS[2]["choices"].index(text)] for text in answers[2]]
    lines = [" ".join(letters) if number == 2 else given[0] for number, given in enumerate(answers)]
    monkeypatch.setattr(
        sys, "stdin", io.StringIO("".join(f"{line}\n" for line in (*lines, {"right": "y", "wrong": "n"}[grade])))
    )
    assert terminal.predict(books["terminal"], None, again=False) == 0

    records = {way: (book / "exercises" / "progress.json").read_bytes() for way, book in books.items()}
    assert len(json.loads(records["page"])["predictions"]) == len(QUESTIONS)
    assert records["notebook"] == records["page"]
    assert records["terminal"] == records["page"]
