"""How is an answer recorded, whichever way it was given: on the page, in Jupyter, in the terminal?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbook.exercises import state as states
from workbook.exercises.state import Prediction, State
from workbook.predictions.question import PROSE, Question, Unanswerable
from workbook.predictions.questions import Asked

MARK = {True: "right", False: "wrong", None: ""}


def commit(root: Path, asked: Asked, given: Sequence[str], graded: bool | None = None) -> tuple[Prediction, State]:
    """Record the reader's answer; `graded` is what they say of an open one. Returns what is on record from now on.

    The first answer to a question stays. Raises Unanswerable if the text is no answer to it.
    """
    question = asked.question
    mark = question.mark(given)
    prediction = Prediction(
        asked.section, tuple(text.strip() for text in given), MARK[graded if mark is None else mark]
    )
    state = states.update(root, states.predicted(question.key, prediction))
    return state.predictions.get(question.key, prediction), state


def add(root: Path, other: State) -> tuple[int, State]:
    """Add the predictions of an export or of another record; what is on record stays. Returns how many were new.

    Raises Unanswerable.
    """
    for key, prediction in other.predictions.items():
        if any(len(text) > PROSE for text in prediction.given):
            raise Unanswerable(f"its answer to {key} has more than {PROSE:,} characters")
    new = 0

    def put(state: State) -> None:
        nonlocal new
        new = len(other.predictions.keys() - state.predictions.keys())
        states.merged(other)(state)

    state = states.update(root, put)
    return new, state


def verdict(question: Question, mark: str) -> str:
    """One line that says how the answer compares, with the right one where there is one."""
    if question.kind == "open":
        return {"right": "Right, as you say.", "wrong": "Not right, as you say; it comes back in review."}.get(mark, "")
    if mark == "right":
        return "Right."
    expected = "; ".join(text.replace("`", "") for text in question.expected)
    if question.kind == "several":
        return f"Wrong: what applies is {expected}." if expected else "Wrong: none of them applies."
    return f"Wrong: the answer is {expected}."
