"""How does `workbook predict` ask in a terminal?

Each answer is recorded as soon as it is given, so that a sitting can be broken off at any time.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbook.book.project import CHAPTERS
from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError
from workbook.exercises.desk import tell
from workbook.exercises.say import command, count, fill, lines, markdown, paint, say, visible, width
from workbook.predictions.literals import same_text
from workbook.predictions.question import LINE, Question, Unanswerable, value_of
from workbook.predictions.questions import Asked, questions
from workbook.predictions.record import commit, verdict
from workbook.stopped import STOPPED

LINES = 40  # of an output that are shown
INDENT = "    "
HOW = {
    "choice": "The letter of your answer",
    "several": "The letters of all that apply, or - for none",
    "number": "A number",
    "text": "One line",
    "open": "Your explanation, in one line",
}
SKIP, QUIT = "?", "q"


class Stopped(Exception):
    """The reader wants to stop."""


class NotKept(Exception):
    """The record could not be written; the state says why."""

    def __init__(self, state: states.State) -> None:
        self.state = state


def predict(root: Path, name: str | None, *, again: bool) -> int:
    """Ask the unanswered questions of a chapter, topic or section, or with `again` all. Returns the exit code."""
    state = states.load(root)
    every = questions(root)
    if not state.writable:
        tell(state)
        return 1  # nothing of a sitting would be kept
    if not every:
        raise ExerciseError(f"no notebook in {CHAPTERS}/ asks a prediction\n  to build them: {command('notebooks')}")
    chosen = among(root, every, name)
    left = [asked for asked in chosen if again or is_unanswered(asked, state)]
    if not left:
        say(f"All {count(len(chosen), 'prediction')} here are committed: {command('progress')} shows them. "
            f"To see them once more: {command(f'predict {name} --again' if name else 'predict --again')}")  # fmt: skip
        tell(state)
        return 0
    say(f"{count(len(left), 'prediction')}. {SKIP} skips a question, {QUIT} ends; every answer is recorded at once.")
    tell(state)
    marks: list[str] = []
    code = 0
    try:
        section = ""
        for number, asked in enumerate(left, 1):
            if asked.section != section:
                section = asked.section
                print(f"\n{paint(asked.title, 'bold')}")
                say(f"{CHAPTERS}/{section}.md")
            ask(root, asked, f"{number} of {len(left)}", marks)
    except (Stopped, EOFError):
        print()
    except KeyboardInterrupt:
        print()
        code = STOPPED
    except NotKept as error:
        tell(error.state)
        code = 1
    close(left, marks)
    return code


def is_unanswered(asked: Asked, state: states.State) -> bool:
    """Whether the reader has still to answer a question, or to say how right an explanation was."""
    prediction = state.predictions.get(asked.question.key)
    return prediction is None or not prediction.mark


def among(root: Path, every: Sequence[Asked], name: str | None) -> list[Asked]:
    """The questions of the chapter, topic or section with this name; all of them without one."""
    if name is None:
        return list(every)
    from workbook.parts import sections_called

    sections = sections_called(root, name, dict.fromkeys(asked.section for asked in every), "asks a prediction")
    return [asked for asked in every if asked.section in sections]


# --- one question ---


def ask(root: Path, asked: Asked, place: str, marks: list[str]) -> None:
    """Ask one question and show what comes of it. Its mark is added to the marks, unless it is skipped."""
    question = asked.question
    print()
    from workbook.predictions.context import context

    if above := context(asked.code, asked.above):
        print(f"Above the cell:\n\n{textwrap.indent(above, INDENT)}\n\nThe cell:\n")
    print(textwrap.indent(asked.code, INDENT))
    print()
    print(markdown(f"**{place}.** {question.question}"))
    for letter, choice in zip(letters(question), question.choices, strict=True):
        say(choice, f"  {letter}  ", "     ")
    before = states.load(root).predictions.get(question.key)
    given = answer_to(question)
    if given is None:
        return
    if before is not None:
        mark = {True: "right", False: "wrong", None: ""}[question.mark(given)]
    else:
        mark = kept(root, asked, given)
    marks.append(mark)
    show(asked, mark)
    if question.kind == "open" and (mark := grade()):
        marks[-1] = mark
        if before is None or not before.mark:
            kept(root, asked, given, {"right": True, "wrong": False}[mark])


def kept(root: Path, asked: Asked, given: Sequence[str], graded: bool | None = None) -> str:
    """Record an answer, or the grade of one; returns its mark. Raises NotKept where the record cannot be written."""
    prediction, state = commit(root, asked, given, graded)
    if not (state.saved and state.writable):
        raise NotKept(state)
    tell(state)
    return prediction.mark


def answer_to(question: Question) -> list[str] | None:
    """What the reader answers; None if the question is skipped. Asks again where the text is no answer."""
    while True:
        text = typed(HOW[question.kind])
        if text == SKIP:
            return None
        if text == QUIT and QUIT not in letters(question):
            raise Stopped
        try:
            given = chosen_by(question, text) if question.choices else [text]
            question.mark(given)
        except Unanswerable as error:
            say(f"Not committed: {visible(str(error))}.")
        else:
            return given


def chosen_by(question: Question, text: str) -> list[str]:
    """The choices that are meant by letters, or by their own text. Raises Unanswerable."""
    if not text:
        raise Unanswerable("nothing was entered")
    known = dict(zip(letters(question), question.choices, strict=True))
    if question.kind == "several" and text == "-":
        return []
    parts = [part for part in text.lower().replace(",", " ").split() if part]
    if question.kind == "several" and len(parts) == 1 and set(parts[0]) <= set(known):
        parts = list(parts[0])
    if parts and all(part in known for part in parts) and (question.kind == "several" or len(parts) == 1):
        return [known[part] for part in dict.fromkeys(parts)]
    for choice in question.choices:
        if text == choice or same_text(text, value_of(choice)):
            return [choice]
    first, last = letters(question)[0], letters(question)[-1]
    accepted = f"letters from {first} to {last}, or - for none"
    if question.kind == "choice":
        accepted = f"a letter from {first} to {last}"
    raise Unanswerable(f"{text[:LINE]!r} is not one of the choices; accepted: {accepted}")


def letters(question: Question) -> str:
    """A letter for each choice."""
    return "abcdefghijklmnop"[: len(question.choices)]


def typed(prompt: str) -> str:
    """A line that the reader typed. Raises EOFError where the input ends."""
    sys.stdout.write(f"{prompt}: ")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    if not sys.stdin.isatty():
        print()
    return line.strip()


def grade() -> str:
    """What the reader says of an open answer; nothing if that is skipped."""
    while True:
        text = typed("Was your explanation right? y or n").lower()
        if text == QUIT:
            raise Stopped
        if text in ("y", "yes", "n", "no"):
            return "right" if text.startswith("y") else "wrong"
        if text == SKIP:
            return ""


def show(asked: Asked, mark: str) -> None:
    """Print how the answer compares, what the cell printed, and why."""
    said = verdict(asked.question, mark)
    if said:
        colour = {"right": "green", "wrong": "red"}.get(mark, "bold")
        print("\n".join(paint(line, colour, "bold") for line in fill(said).splitlines()))
    print()
    printed = [line for output in asked.outputs for line in readable(output, width() - len(INDENT))]
    for line in printed[:LINES]:
        print(textwrap.indent(line, INDENT))
    if len(printed) > LINES:
        print(f"{INDENT}... and {count(len(printed) - LINES, 'more line')}")
    print()
    print(markdown(asked.reason))


def readable(output: Mapping[str, Any], columns: int) -> list[str]:
    """The lines of an output as a terminal shows them. A single line of prose, as a figure's description, is wrapped;
    lines in columns stay as they are."""
    printed = [visible(line) for line in text_of_output(output)]
    if len(printed) == 1 and len(printed[0]) > columns and "  " not in printed[0]:
        return lines(printed[0], columns)
    return printed


def text_of_output(output: Mapping[str, Any]) -> Iterable[str]:
    """An output as lines of text; a figure is named by its description."""
    kind = output["output_type"]
    if kind == "error":
        return [f"{output['ename']}: {output['evalue']}"]
    text = output["text"] if kind == "stream" else output["data"].get("text/plain", "")
    return (text if isinstance(text, str) else "".join(text)).splitlines()


def close(left: Sequence[Asked], marks: Sequence[str]) -> None:
    """Print how the sitting went, and what to do next."""
    print()
    right = marks.count("right")
    say(f"{len(marks)} answered, {right} right, {len(left) - len(marks)} not answered.")
    if marks:
        missed = f" What you missed comes back: {command('review')}" if "wrong" in marks else ""
        say(f"All of them: {command('progress')}.{missed}")
