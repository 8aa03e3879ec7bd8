"""Does a notebook's cell ask, mark and record as the page and the terminal do?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.workbook.predictions.asking_book import NONE_AND_ALL, QUESTIONS, RIGHT, SECTION, WRONG, make_book
from workbook.exercises import state as states
from workbook.exercises.state import Prediction
from workbook.predictions.questions import questions
from workbook.predictions.widget import formatted

HEAD = """
import pathlib, workbook
import workbook.book.project as project
from workbook.predictions import widget

project.project_root = lambda start=None: pathlib.Path({root!r})
forms = []

class Kept(widget.Form):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        forms.append(self)

widget.Form = Kept

def give(form, given):
    if form.asked.question.kind == "several":
        *boxes, none = form.field.children
        for box, choice in zip(boxes, form.asked.question.choices, strict=True):
            box.value = choice in given
        none.value = not given
    else:
        form.field.value = given[0]
"""


def ran(book: Path, *cells: str) -> nbformat.NotebookNode:
    """A notebook of these cells, run in a kernel of its own, with the clone in `book`."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(text) for text in (HEAD.format(root=str(book)), *cells)]
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return NotebookClient(notebook, timeout=600, kernel_name="python3").execute()


def printed(notebook: nbformat.NotebookNode, place: int = -1) -> str:
    """What a cell printed."""
    return "".join(output.text for output in notebook.cells[place].outputs if output.output_type == "stream")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A clone whose book asks."""
    return make_book(tmp_path)


def identities(book: Path) -> list[str]:
    """What the cells of the notebook call their questions."""
    return [asked.question.identity for asked in questions(book)]


def test_a_cell_asks_marks_and_records(book: Path) -> None:
    asks = "".join(f"workbook.predict({name!r})\n" for name in identities(book))
    wrong = f"for form, given in zip(forms, {WRONG!r}): give(form, given); form.button.click()"
    grade = "forms[4].grades.children[1].click()"
    said = "import json; print(json.dumps([form.said.value for form in forms]))"
    again = f"forms.clear()\n{asks}\nprint(json.dumps([[form.given(), form.button.disabled] for form in forms]))"
    notebook = ran(book, asks, wrong, grade, said, again)
    widgets = [out for out in notebook.cells[1].outputs if "application/vnd.jupyter.widget-view+json" in out.data]
    assert len(widgets) == len(QUESTIONS)
    assert states.load(book).predictions == {
        asked.question.key: Prediction(SECTION, tuple(given), "wrong", states.today())
        for asked, given in zip(questions(book), WRONG, strict=True)
    }
    first, *_ = sentences = json.loads(printed(notebook, 4))
    assert "Wrong: the answer is 3." in first
    assert all("firebrick" in sentence for sentence in sentences)
    assert json.loads(printed(notebook)) == [[given, True] for given in WRONG]


def test_what_is_no_answer_is_said_and_not_recorded(book: Path) -> None:
    tries = ("", "three <b>", "3" * 100_000)
    cell = f"workbook.predict({identities(book)[0]!r})\nimport json\nfor text in {tries!r}:\n"
    cell += "    give(forms[0], [text]); forms[0].button.click(); print(json.dumps(forms[0].said.value))"
    sentences = [json.loads(line) for line in printed(ran(book, cell)).splitlines()]
    assert [sentence.startswith("Not committed: ") for sentence in sentences] == [True] * 3
    assert "&lt;b&gt;" in sentences[1]
    assert states.load(book).predictions == {}


def test_right_answers_are_right(book: Path) -> None:
    asks = "".join(f"workbook.predict({name!r})\n" for name in identities(book))
    right = f"for form, given in zip(forms, {RIGHT!r}): give(form, given); form.button.click()"
    ran(book, asks, right, "forms[4].grades.children[0].click()")
    assert {one.mark for one in states.load(book).predictions.values()} == {"right"}


def test_none_and_all_of_several_choices_may_be_right(tmp_path: Path) -> None:
    book = make_book(tmp_path, questions=NONE_AND_ALL)
    asks = "".join(f"workbook.predict({name!r})\n" for name in identities(book))
    answers = ([], ["(1, 2)", "b", "c"])
    ran(book, asks, f"for form, given in zip(forms, {answers!r}): give(form, given); form.button.click()")
    record = states.load(book).predictions
    recorded = [record[asked.question.key] for asked in questions(book)]
    assert [(list(one.given), one.mark) for one in recorded] == [(given, "right") for given in answers]


def test_none_of_these_and_a_choice_untick_each_other(tmp_path: Path) -> None:
    book = make_book(tmp_path, questions=NONE_AND_ALL[:1])
    ticks = """
import json
*boxes, none = forms[0].field.children
for box in (boxes[0], none, boxes[1], boxes[2], none):
    box.value = True
    print(json.dumps([one.value for one in (*boxes, none)]))
forms[0].button.click()
"""
    said = printed(ran(book, f"workbook.predict({identities(book)[0]!r})\n{ticks}"))
    assert [json.loads(line) for line in said.splitlines()] == [
        [True, False, False, False],
        [False, False, False, True],
        [False, True, False, False],
        [False, True, True, False],
        [False, False, False, True],
    ]
    assert [one.given for one in states.load(book).predictions.values()] == [()]


def test_a_notebook_of_another_book_says_so(book: Path) -> None:
    said = printed(ran(book, "workbook.predict('0123456789')"))
    assert said.startswith("The book no longer asks this question as this notebook has it.")


def test_without_ipywidgets_the_question_is_shown_and_the_way_to_answer_it(book: Path) -> None:
    missing = "widget.find_spec = lambda name: None\n"
    said = printed(ran(book, f"{missing}workbook.predict({identities(book)[0]!r})"))
    assert said.startswith("Predict: How many nodes?\nTo commit to an answer here, install ipywidgets: ")
    assert re.search(r"\nOr answer in a terminal: \S*workbook predict 04\n$", said)


def test_a_question_is_no_html_but_for_its_code() -> None:
    assert formatted("Is `a < b` <i>so</i>?") == "Is <code>a &lt; b</code> &lt;i&gt;so&lt;/i&gt;?"
