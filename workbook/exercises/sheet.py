"""Which parts of a notebook are hidden until its reader has tried?

The shipped notebook is executed: the book shows its outputs, and a check compares a lab sheet with them. In the
reader's copy the outputs of cells that ask for a prediction are not there yet, and the answers are folded, as are those
to the questions of interviews.
"""

from __future__ import annotations

import json
import re
from typing import Any

from workbook.predictions.questions import ANSWER, PREDICT, text_of

FOLD = "<details>\n<summary>{}</summary>\n\n{}\n\n</details>"


def unanswered(sheet: bytes) -> bytes:
    """The notebook for its reader. A file that is not a notebook, because it was edited, is unchanged."""
    try:
        notebook = json.loads(sheet)
        for cell in notebook["cells"]:
            hide(cell)
    except (ValueError, KeyError, TypeError, AttributeError):
        return sheet
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def hide(cell: dict[str, Any]) -> None:
    """Fold an answer, or remove the output of a prediction."""
    tags = cell["metadata"].get("tags", ())
    if cell["cell_type"] == "code" and PREDICT in tags:
        cell["outputs"], cell["execution_count"] = [], None
        cell["metadata"].pop("jupyter", None)  # collapsed: what it prints now is to be seen
    elif cell["cell_type"] == "markdown" and ANSWER in tags:
        cell["metadata"].pop("jupyter", None)
        cell["source"] = FOLD.format("Then look", text_of(cell))
    elif cell["cell_type"] == "markdown" and "> [!QUESTION]-" in (source := text_of(cell)):
        from workbook.review.interview import CALLOUT

        cell["source"] = CALLOUT.sub(folded, source)


def folded(question: re.Match[str]) -> str:
    """A question of an interview that opens when it is clicked: Jupyter shows a callout with its answer open."""
    from workbook.predictions.widget import formatted

    answer = re.sub("^> ?", "", question["answer"], flags=re.MULTILINE)
    return FOLD.format(formatted(question["question"]), answer.strip()) + "\n"
