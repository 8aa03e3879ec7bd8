"""What does one cell ask, which answers are accepted, and is this one right?"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbook.predictions.literals import literal, plain, same, same_text, shown, written

KINDS = ("choice", "several", "number", "text", "open")
KEYS = ("question", "kind", "answer", "choices", "tolerance")
LINE = 40  # characters of an expected text
LONGEST = 200  # characters of a text that is typed
PROSE = 2000  # characters of an open answer
NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+(_\d+)*\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SLACK = 1e-9  # of the expected number, for what binary fractions cannot express


class QuestionError(Exception):
    """A question is not well formed. The message says what is wrong and what is accepted."""


class Unanswerable(Exception):
    """What was given is no answer to the question, so that it is neither right nor wrong. The message says why."""


@dataclass(frozen=True)
class Question:
    """What a cell asks. `expression` is evaluated when the notebook is built; `value` is what it gave."""

    question: str
    kind: str
    choices: tuple[str, ...] = ()
    expression: str = ""
    tolerance: float = 0.0
    value: Any = None

    @property
    def identity(self) -> str:
        """A hash of what is asked, without the answer: the name of the question inside a notebook."""
        return hashed(self.question, self.kind, self.choices)[:10]

    @property
    def key(self) -> str:
        """A hash of question, kind, choices and answer: what an answer of the reader's is recorded under."""
        return hashed(self.question, self.kind, self.choices, written(self.value))[:16]

    @property
    def expected(self) -> tuple[str, ...]:
        """The right answer as text: the right choices, the number or the line; nothing if the question is open."""
        if self.kind == "open":
            return ()
        if self.kind in ("choice", "several"):
            return tuple(self.choices[place] for place in self.right_choices())
        return (shown(self.value),)

    def right_choices(self) -> list[int]:
        """The places of the right choices."""
        wanted = list(self.value) if self.kind == "several" else [self.value]
        return [place for place, choice in enumerate(self.choices) if any(same(value_of(choice), w) for w in wanted)]

    def mark(self, given: Sequence[str]) -> bool | None:
        """Whether the answer is right; None for an open question, which its reader grades.

        `given` is one text, or any number of choices for the kind `several`. Raises Unanswerable.
        """
        limit = PROSE if self.kind == "open" else LONGEST
        for text in given:
            if len(text) > limit:
                raise Unanswerable(f"{len(text):,} characters are too many; accepted: at most {limit:,}")
        if self.kind == "several":
            return self.mark_choices(given)
        if len(given) != 1 or not given[0].strip():
            raise Unanswerable("nothing was entered")
        text = given[0].strip()
        if self.kind == "choice":
            return self.mark_choices([text])
        if self.kind == "number":
            return self.mark_number(text)
        return same_text(text, self.value) if self.kind == "text" else None

    def mark_choices(self, given: Sequence[str]) -> bool:
        """Whether exactly the right choices were chosen."""
        for text in given:
            if text not in self.choices:
                raise Unanswerable(f"{text[:LINE]!r} is not one of the choices: {', '.join(self.choices)}")
        return {self.choices.index(text) for text in given} == set(self.right_choices())

    def mark_number(self, text: str) -> bool:
        """Whether the number is the expected one, within the tolerance."""
        if not NUMBER.fullmatch(text):
            raise Unanswerable(f"{text[:LINE]!r} is not a number; accepted: for example 12, -0.5 or 1e6")
        number = float(text.replace("_", "").replace(",", ""))
        return bool(abs(number - self.value) <= self.tolerance + SLACK * abs(self.value))


def hashed(*parts: object) -> str:
    """A hash of the parts in order."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def value_of(choice: str) -> object:
    """The value that a choice stands for: its literal, or its own text. Backquotes only say how it is set.

    >>> value_of("(2, 1)"), value_of("`CPU`"), value_of("it raises")
    ((2, 1), 'CPU', 'it raises')
    """
    text = choice.replace("`", "")
    value = literal(text)
    return text if value is None else value[0]


# --- from a notebook ---


def question_of(metadata: Mapping[str, Any]) -> Question:
    """The question that a cell's options declare, without the value of its answer. Raises QuestionError."""
    question, kind = metadata.get("question"), metadata.get("kind")
    if not isinstance(question, str) or not question.strip():
        raise QuestionError("has no question\n  accepted: `question: What does it print?`, one fact in one sentence")
    if kind not in KINDS:
        raise QuestionError(f"has kind: {kind}\n  accepted: {', '.join(KINDS)}")
    choices, expression = metadata.get("choices"), metadata.get("answer")
    if (kind in ("choice", "several")) != (isinstance(choices, list) and len(choices) > 1):
        raise QuestionError(f"has choices: {choices}\n  accepted: two or more for choice and several, none otherwise")
    if (kind == "open") != (expression is None):
        raise QuestionError(
            f"has answer: {expression}\n"
            "  accepted: an expression for the cell's kernel, for example len(hops); none where the kind is open"
        )
    tolerance = metadata.get("tolerance", 0)
    if type(tolerance) not in (int, float) or not tolerance >= 0 or (tolerance and kind != "number"):
        raise QuestionError(f"has tolerance: {tolerance!r}\n  accepted: a number above 0, with kind: number")
    texts = tuple(" ".join(str(choice).split()) for choice in choices or ())
    for place, text in enumerate(texts):
        if any(same(value_of(text), value_of(other)) for other in texts[:place]):
            raise QuestionError(f"has the choice {text} twice")
    return Question(" ".join(question.split()), kind, texts, str(expression or ""), float(tolerance))


def with_value(question: Question, value: object) -> Question:
    """The question with the value of its answer, once that is sure to be one that can be asked for."""
    if question.kind == "open":
        return question
    try:
        value = plain(value)
    except TypeError as error:
        raise QuestionError(f"its answer {question.expression} cannot be compared: {error}") from None
    if question.kind == "several":
        if not isinstance(value, list | tuple | set):
            raise QuestionError(f"its answer {question.expression} is {value!r}\n  accepted: a list of choices")
        value = [value_of(question.choices[place]) for place in sorted({one_of(question, item) for item in value})]
    elif question.kind == "choice":
        one_of(question, value)
    elif question.kind == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise QuestionError(f"its answer {question.expression} is {value!r}\n  accepted: a number")
    elif question.kind == "text" and (len(shown(value)) > LINE or "\n" in shown(value)):
        raise QuestionError(
            f"its answer {question.expression} is {shown(value)!r}\n"
            f"  accepted: one line of at most {LINE} characters; ask for one fact of it"
        )
    return replace(question, value=value)


def one_of(question: Question, value: object) -> int:
    """The place of the choice that stands for a value; an error unless exactly one does."""
    places = [place for place, choice in enumerate(question.choices) if same(value_of(choice), value)]
    if len(places) != 1:
        raise QuestionError(
            f"its answer {question.expression} is {value!r}, which is not one of the choices\n"
            f"  accepted: choices that hold it once; these are: {', '.join(question.choices)}"
        )
    return places[0]
