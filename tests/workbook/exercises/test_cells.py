"""What is told of a cell that does not give what it should?"""

from __future__ import annotations

from types import SimpleNamespace

from nbformat import NotebookNode

from workbook.exercises.cells import asked_before, cell_refusal, frames, text_of
from workbook.exercises.report import NOT_STARTED, REFUSED

TRACEBACK = """\x1b[31mValueError\x1b[39m      Traceback (most recent call last)
Cell In[3], line 1
----> 1 double(2)
File /somewhere/answer.py:12, in double(number)
     10 def double(number):
     11     x = 1
---> 12     return library.call(number)
File /library/inside.py:99, in call(x)
---> 99     raise ValueError
"""


def output(kind: str, **values: object) -> NotebookNode:
    """An output of a cell."""
    return NotebookNode(output_type=kind, **values)


def result(text: str, **more: str) -> NotebookNode:
    """A cell's value."""
    return output("execute_result", data={"text/plain": text, **more})


def item(came: list[NotebookNode], accepted: list[NotebookNode]) -> SimpleNamespace:
    """A cell as nbval has it after its run."""
    cell = NotebookNode(cell_type="code", source="double(2)\n", outputs=accepted)
    heading = NotebookNode(cell_type="markdown", source="# Sheet\n\n## Play\nwords")
    return SimpleNamespace(
        cell=cell, test_outputs=came, parent=SimpleNamespace(nb=SimpleNamespace(cells=[heading, cell]))
    )


class NbCellError(Exception):
    """Named as nbval's."""


def test_a_wrong_value_stands_beside_the_accepted_one() -> None:
    outcome, told = cell_refusal(item([result("3")], [result("4")]), NbCellError())
    assert (outcome, told.input, told.came, told.accepted) == (REFUSED, "double(2)", "3", "4")
    assert told.asked == "the cell below 'Play' in lab.ipynb"


def test_a_drawing_that_differs_is_told_where_the_text_is_the_same() -> None:
    pair = (result("a drawing", **{"image/svg+xml": "<a/>"}), result("a drawing", **{"image/svg+xml": "<b/>"}))
    _, told = cell_refusal(item([pair[0]], [pair[1]]), NbCellError())
    assert told.came == "a drawing, drawn otherwise"


def test_an_exception_shows_the_line_of_the_answer_and_no_other_file() -> None:
    error = output("error", ename="ValueError", evalue="bad", traceback=TRACEBACK.splitlines())
    _, told = cell_refusal(item([error], [result("4")]), NbCellError())
    assert (told.came, told.line, told.trace) == ("ValueError: bad", 12, ("line 12: return library.call(number)",))


def test_a_stub_is_not_started() -> None:
    error = output("error", ename="NotImplementedError", evalue="", traceback=TRACEBACK.splitlines())
    outcome, told = cell_refusal(item([error], []), NbCellError())
    assert (outcome, told.line) == (NOT_STARTED, 12)


def test_a_kernel_that_died_is_told() -> None:
    _, told = cell_refusal(item([], [result("4")]), RuntimeError())
    assert told.came == "the kernel ended without a result"


def test_an_empty_output_is_said() -> None:
    _, told = cell_refusal(item([], [result("4")]), NbCellError())
    assert (told.came, told.accepted) == ("no output", "4")


def test_outputs_read_as_text() -> None:
    outputs = [
        output("stream", name="stdout", text="printed\n"),
        result("value"),
        output("display_data", data={"image/png": "..."}),
        output("error", ename="SystemExit", evalue="3"),
        output("clear_output"),
    ]
    assert text_of(outputs) == "printed\nvalue\n[image/png]\nit called sys.exit(3)"


def test_without_a_frame_of_the_answer_there_is_no_line() -> None:
    assert frames("ValueError\nCell In[3], line 1\n----> 1 f()\n") == (None, ())


def test_without_a_heading_it_is_a_cell() -> None:
    assert asked_before([], object()) == "a cell of lab.ipynb"
