"""How does a cell of a section ask its reader for a prediction, and how does it come by the answer?

The options of a cell with the tag `predict` declare a question, which the notebook keeps in the cell's metadata. A cell
that asks it in Jupyter stands above, and the value of its answer is evaluated in the kernel that has just run the cell.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbformat import NotebookNode

from workbook.book.errors import BookError, last_line
from workbook.book.project import LABS, shown
from workbook.predictions import evaluation
from workbook.predictions.literals import literal, written
from workbook.predictions.question import KEYS, Question, QuestionError, question_of, with_value
from workbook.predictions.questions import PREDICT

WIDTH = 80  # columns of a cell
ASKING = """\
# Predict: {question}
import workbook

workbook.predict("{identity}")"""


# --- from the text ---


def question_in(cell: NotebookNode, tags: Sequence[str], source: Path, number: int) -> Question | None:
    """The question that a cell of a section asks; None where it asks none, and in a lab sheet, where none is kept."""
    options = {name: value for name, value in cell.metadata.items() if name != "tags"}
    place = f"{shown(source)}: cell {number}"
    if unknown := sorted(set(options) - set(KEYS)):
        raise BookError(f"{place} has the option {unknown[0]!r}\n  known options: tags, {', '.join(KEYS)}, raises")
    if PREDICT not in tags or (source.resolve().parents[2].name == LABS and not options):
        if options:
            raise BookError(f"{place} has the option {next(iter(options))!r}\n  accepted: with the tag predict only")
        return None
    try:
        return question_of(options)
    except QuestionError as error:
        raise BookError(f"{place} {error}") from error


def declared(question: Question) -> dict[str, object]:
    """A question as the metadata of its cell."""
    told: dict[str, object] = {"question": question.question, "kind": question.kind}
    told |= {"choices": list(question.choices)}
    told |= {"answer": question.expression, "tolerance": question.tolerance}
    return {name: value for name, value in told.items() if value}


def asking(question: Question) -> str:
    """The source of the cell that asks in Jupyter."""
    text = question.question.replace("`", "")
    return ASKING.format(
        question="\n# ".join(textwrap.wrap(text, WIDTH - len("# Predict: "))), identity=question.identity
    )


# --- in the kernel ---


async def evaluate_answer(client: NotebookClient, cell: NotebookNode, told: dict[str, Any], place: str) -> None:
    """Add the value of the answer, evaluated in the kernel that has just run the cell, to the cell's question."""
    question = question_of(told)
    if question.kind == "open":
        return
    printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
    displayed = any(output.output_type == "execute_result" for output in cell.outputs)
    expression = evaluation.call(question.expression, printed, displayed=displayed)
    kernel: Any = client.kc
    reply = await kernel.execute_interactive(
        "", silent=True, store_history=False, allow_stdin=False, user_expressions={"answer": expression}
    )
    came = reply["content"]["user_expressions"]["answer"]
    if came["status"] != "ok":
        raise BookError(
            f"{place}: its answer {question.expression} raised\n  {came['ename']}: {last_line(came['evalue'])}\n"
            "  accepted: an expression over the notebook's names, and printed, shown and error"
        )
    try:
        (text,) = literal(came["data"]["text/plain"]) or ("",)
        (value,) = literal(str(text)) or (None,)
        told["value"] = written(with_value(question, value).value)
    except QuestionError as error:
        raise BookError(f"{place}: {error}") from error


# --- in a committed notebook ---


def without_values(notebook: NotebookNode) -> None:
    """Take out of a notebook the values that were evaluated: what is left is what its text declares."""
    for cell in notebook.cells:
        cell.metadata.get("prediction", {}).pop("value", None)


def lacks_value(told: Mapping[str, Any] | None) -> bool:
    """Whether a cell asks something whose answer was never evaluated, or has the value of an open question."""
    return told is not None and ("value" in told) != (told["kind"] != "open")
