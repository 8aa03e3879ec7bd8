"""How does a notebook ask its reader for a prediction?

    workbook.predict("3f2a9c41d0")

The cell stands above the one that it asks about, whose output is folded.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from workbook.exercises import state as states
from workbook.exercises.say import command, installation, program
from workbook.exercises.state import State
from workbook.predictions.question import Unanswerable
from workbook.predictions.questions import Asked, questions
from workbook.predictions.record import commit, verdict

NONE = "none of these"
CODE = re.compile(r"`([^`]+)`")
GONE = (
    "The book no longer asks this question as this notebook has it. Run the cell below and look; "
    "for the notebook of today, rename this one and open the section again with {}."
)
MISSING = """Predict: {}
To commit to an answer here, install ipywidgets: {}
Or answer in a terminal: {}"""


def predict(identity: str) -> None:
    """Show the question with this identity, and record the reader's answer."""
    from IPython.core.display_functions import display

    from workbook.book.project import project_root

    root = project_root()
    asked = next((asked for asked in questions(root) if asked.question.identity == identity), None)
    if asked is None:
        print(GONE.format(command("lab")))
        return
    if find_spec("ipywidgets") is None:
        answering = f"{program()} predict {asked.chapter[:2]}"
        print(MISSING.format(asked.question.question.replace("`", ""), installation("book"), answering))
        return
    display(  # type: ignore[no-untyped-call]
        Form(asked, lambda given, graded: commit(root, asked, given, graded), states.load(root)).box
    )


class Form:
    """The widgets of one question. `record` commits an answer."""

    def __init__(self, asked: Asked, record: Callable[[Sequence[str], bool | None], Any], state: State) -> None:
        import ipywidgets as widgets

        self.asked, self.record = asked, record
        self.title = widgets.HTML(f"<b>Predict.</b> {formatted(asked.question.question)}")
        self.field = self.field_of(widgets)
        self.button = widgets.Button(description="Commit", button_style="primary")
        self.grades = widgets.HBox([widgets.Button(description=text) for text in ("It was right", "It was not")])
        self.said = widgets.HTML()
        self.reason = widgets.Output()
        self.box = widgets.VBox([self.title, self.field, self.button, self.said, self.reason])
        self.button.on_click(lambda _: self.commit())
        for button, graded in zip(self.grades.children, (True, False), strict=True):
            button.on_click(lambda _, graded=graded: self.grade(graded))
        if (before := state.predictions.get(asked.question.key)) is not None:
            self.restore(before.given)
            self.tell(before.mark, state)

    def field_of(self, widgets: Any) -> Any:
        """The input that fits the kind of question."""
        question = self.asked.question
        plain = [choice.replace("`", "") for choice in question.choices]
        if question.kind == "choice":
            options = list(zip(plain, question.choices, strict=True))
            return widgets.RadioButtons(options=options, value=None, layout={"width": "max-content"})
        if question.kind == "several":
            boxes = [widgets.Checkbox(description=text, indent=False) for text in (*plain, NONE)]
            exclude(*boxes)
            return widgets.VBox(boxes)
        if question.kind == "open":
            return widgets.Textarea(placeholder="Your explanation", layout={"width": "40em"})
        return widgets.Text(placeholder="A number" if question.kind == "number" else "One line")

    def given(self) -> list[str]:
        """What stands in the input."""
        if self.asked.question.kind == "several":
            *boxes, none = self.field.children
            chosen = [choice for box, choice in zip(boxes, self.asked.question.choices, strict=True) if box.value]
            if not chosen and not none.value:
                raise Unanswerable(f"nothing was chosen; if no choice applies, tick {NONE!r}")
            return chosen
        return [] if self.field.value is None else [self.field.value]

    def restore(self, given: Sequence[str]) -> None:
        """Put an answer that was given before into the input."""
        if self.asked.question.kind == "several":
            *boxes, none = self.field.children
            for box, choice in zip(boxes, self.asked.question.choices, strict=True):
                box.value = choice in given
            none.value = not given
        elif given:
            self.field.value = given[0]

    def commit(self, graded: bool | None = None) -> None:
        """Record the answer, and open the reason."""
        try:
            prediction, state = self.record(self.given(), graded)
        except Unanswerable as error:
            self.said.value = html.escape(f"Not committed: {error}.")
            return
        self.restore(prediction.given)
        self.tell(prediction.mark, state)

    def grade(self, graded: bool) -> None:
        """Record what the reader says of an open answer."""
        self.commit(graded)

    def tell(self, mark: str, state: State) -> None:
        """Say how the answer compares; from now on it cannot be changed."""
        from IPython.display import Markdown

        open_still = self.asked.question.kind == "open" and not mark
        for widget in (self.button, *getattr(self.field, "children", (self.field,))):
            widget.disabled = True
        said = [verdict(self.asked.question, mark), *state.said, "Now run the cell below, or unfold its output."]
        colour = {"right": "green", "wrong": "firebrick"}.get(mark, "inherit")
        self.said.value = f'<span style="color: {colour}">{html.escape(" ".join(filter(None, said)))}</span>'
        self.reason.outputs = ()
        self.reason.append_display_data(Markdown(self.asked.reason))  # type: ignore[no-untyped-call]
        parts = [self.title, self.field, self.button, self.said, self.reason]
        self.box.children = [*parts, self.grades] if open_still else parts


def exclude(*boxes: Any) -> None:
    """Let the last box untick the others, and each of them the last: it says that none of them applies."""
    *others, none = boxes

    def untick(change: Mapping[str, Any]) -> None:
        for box in others if change["owner"] is none else [none]:
            if change["new"]:
                box.value = False

    for box in boxes:
        box.observe(untick, "value")


def formatted(text: str) -> str:
    """A question as HTML: nothing in it is markup but its `code`."""
    return CODE.sub(r"<code>\1</code>", html.escape(text))
