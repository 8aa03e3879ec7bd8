"""Is a question read from its cell, asked above it, and answered by the kernel that has run it?"""

from __future__ import annotations

import json

import pytest

from tests.book.small_book import SmallBook, asking, built, cell, error_of
from workbook.book.errors import BookError
from workbook.book.notebook_text import read_text


@pytest.mark.parametrize(
    ("text", "said"),
    [
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
    ],
)
def test_a_cell_that_asks_nothing_answerable_is_refused(book: SmallBook, text: str, said: str) -> None:
    with pytest.raises(BookError) as caught:
        read_text(book.section(text))
    assert said in str(caught.value)
    assert str(caught.value).startswith("chapters/section.md: ")


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
