"""What is told of a cell that does not give what it should?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat import NotebookNode

from workbook.exercises.cells import asked_before, cell_refusal, frames, library_fails, prints, text_of
from workbook.exercises.report import BROKEN, NOT_STARTED, REFUSED

ANSWER = Path("answer.py")  # is not there

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
    outcome, told = cell_refusal(item([result("3")], [result("4")]), NbCellError(), ANSWER)
    assert (outcome, told.input, told.came, told.accepted) == (REFUSED, "double(2)", "3", "4")
    assert told.asked == "the cell below 'Play' in lab.ipynb"


def test_a_drawing_that_differs_is_told_where_the_text_is_the_same() -> None:
    pair = (result("a drawing", **{"image/svg+xml": "<a/>"}), result("a drawing", **{"image/svg+xml": "<b/>"}))
    _, told = cell_refusal(item([pair[0]], [pair[1]]), NbCellError(), ANSWER)
    assert told.came == "a drawing, drawn otherwise"


def test_an_exception_shows_the_line_of_the_answer_and_no_other_file() -> None:
    error = output("error", ename="ValueError", evalue="bad", traceback=TRACEBACK.splitlines())
    _, told = cell_refusal(item([error], [result("4")]), NbCellError(), ANSWER)
    assert (told.came, told.line, told.trace) == ("ValueError: bad", 12, ("line 12: return library.call(number)",))


def test_a_stub_is_not_started() -> None:
    error = output("error", ename="NotImplementedError", evalue="", traceback=TRACEBACK.splitlines())
    outcome, told = cell_refusal(item([error], []), NbCellError(), ANSWER)
    assert (outcome, told.line) == (NOT_STARTED, 12)


def test_a_kernel_that_died_is_told() -> None:
    _, told = cell_refusal(item([], [result("4")]), RuntimeError(), ANSWER)
    assert told.came == "the kernel ended without a result"


def test_an_empty_output_is_said() -> None:
    _, told = cell_refusal(item([], [result("4")]), NbCellError(), ANSWER)
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


def printed(text: str) -> NotebookNode:
    """What a cell printed."""
    return output("stream", name="stdout", text=text)


@pytest.mark.parametrize(
    ("came", "accepted", "expected"),
    [
        ([printed("here\n"), result("4")], [result("4")], True),
        ([printed("1\nhere\n2\n"), result("4")], [printed("1\n2\n"), result("4")], True),
        ([printed("1\n")], [printed("1\n"), result("4")], False),
        ([printed("here\n"), result("3")], [result("4")], False),
        ([printed("2\n1\n3\n")], [printed("1\n2\n")], False),
        ([printed("3\n")], [printed("4\n")], False),
    ],
)
def test_a_print_left_in_is_the_reason_where_nothing_else_differs(
    tmp_path: Path, came: list[NotebookNode], accepted: list[NotebookNode], expected: bool
) -> None:
    answer = tmp_path / "answer.py"
    answer.write_text("def double(n):\n    print('here')\n    return 2 * n\n")
    _, told = cell_refusal(item(came, accepted), NbCellError(), answer)
    assert told.because == ("your answer prints; the lab sheet compares all output" if expected else "")
    answer.write_text("def double(n):\n    return 2 * n\n")
    assert cell_refusal(item(came, accepted), NbCellError(), answer)[1].because == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("print(1)", True),
        ("import sys\nsys.stdout.write('1')", True),
        ("# print(1)\nfootprint(2)", False),
        ("print(", False),
    ],
)
def test_an_answer_prints_if_it_calls_print_or_names_the_stream(tmp_path: Path, text: str, expected: bool) -> None:
    (tmp_path / "answer.py").write_text(text)
    assert prints(tmp_path / "answer.py") is expected


IN_LIBRARY = "File /somewhere/reference/glasstorch/core/geometry.py:9\n----> 9 import numpy\n"
IN_ANSWER = "File /somewhere/answer.py:2\n----> 2 import glasstorch as torch\n"


@pytest.mark.parametrize(
    ("traceback", "expected"),
    [
        (f"{IN_ANSWER}{IN_LIBRARY}File /numpy/core.py:3, in load()\n", True),
        (f"  {IN_LIBRARY}", True),
        (f"{IN_LIBRARY}{IN_ANSWER}", False),
        (IN_LIBRARY.replace(":9", ":9, in strides(shape)"), False),
        (IN_ANSWER, False),
    ],
)
def test_a_library_that_cannot_be_loaded_is_not_the_answers_fault(traceback: str, expected: bool) -> None:
    assert library_fails(traceback) is expected
    error = output("error", ename="ModuleNotFoundError", evalue="no numpy", traceback=traceback.splitlines())
    outcome, told = cell_refusal(item([error], []), NbCellError(), ANSWER)
    assert (outcome == BROKEN) is expected
    assert told.came == "glasstorch cannot be imported: " * expected + "ModuleNotFoundError: no numpy"
