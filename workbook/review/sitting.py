"""How does a sitting of `workbook review` go?

A question is shown; the reader answers it from memory, in a line or in thought; then the answer opens. Where it is
prose the reader says how well it was remembered, and elsewhere a comparison does. Each answer is recorded before the
next question, so a sitting can be ended at any time.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from io import TextIOWrapper
from pathlib import Path

from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError
from workbook.exercises.desk import tell
from workbook.exercises.say import command, count, fill, markdown, paint, say, visible
from workbook.exercises.state import State
from workbook.predictions.question import Question as Predicted
from workbook.predictions.question import Unanswerable
from workbook.predictions.record import MARK, verdict
from workbook.predictions.terminal import HOW, QUIT, SKIP, Stopped, chosen_by, letters
from workbook.review.deck import Deck, Question, deck
from workbook.review.schedule import AGAIN, EASY, GOOD, HARD, reviewed
from workbook.stopped import STOPPED

QUIET = 0.05  # seconds without input after which what was pasted has come to its end
PASTED = 100  # pieces of a pasted text that are thrown away, at most

RATINGS = {
    "a": (AGAIN, "again", "you did not know it, or something else"),
    "h": (HARD, "hard", "you knew it with effort, or in part"),
    "g": (GOOD, "good", "you knew it"),
    "e": (EASY, "easy", "you knew it at once"),
}
Ask = Callable[[str], str]


def review(root: Path, name: str | None, *, minutes: int, most: int | None, ahead: bool) -> int:
    """Ask what is due, then what is new; with `ahead` also what comes back later. Returns the exit code."""
    state = states.load(root)
    cards = deck(root, state, name)
    tell(state)
    if not state.writable:
        return 1  # why, the state has told; a sitting of which nothing is kept would ask the same again
    sitting = Sitting(root, cards, on_terminal, minutes=minutes, most=most, ahead=ahead)
    if sitting.following(state) is None:
        nothing_to_ask(cards, state, name)
        return 0
    if not is_terminal():
        raise ExerciseError(
            f"a review asks and waits for answers, and this is not a terminal\n  {waiting(cards, state)}\n"
            f"  run it in a terminal: {command(f'review {name}' if name else 'review')}"
        )
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bytes that are no text end no sitting
    return sitting.hold()


class PassedBy(Exception):
    """The reader does not want to answer this card now."""


@dataclass
class Sitting:
    """One sitting: what it asks, and how far it has come."""

    root: Path
    deck: Deck
    ask: Ask  # prints a prompt and returns a line; raises EOFError where there is none
    minutes: int = 10
    most: int | None = None  # cards
    ahead: bool = False
    seen: list[str] = field(default_factory=list)  # keys of the questions that were shown
    done: int = 0
    explained: bool = False

    def hold(self) -> int:
        """Ask until the time is over, nothing is left, or the reader ends it. Returns the exit code."""
        state = states.load(self.root)
        tell(state)
        say(f"{waiting(self.deck, state)} A sitting takes about {count(self.minutes, 'minute')}. "
            f"{SKIP} skips a card, {QUIT} ends; every answer is recorded at once.")  # fmt: skip
        say("Answer from memory. A prediction is compared with what the cell printed. Any other answer you type, or "
            "only think, before ours opens; then you grade it.")  # fmt: skip
        code = 0
        try:
            self.ask_them()
        except (EOFError, Stopped):
            print()
        except KeyboardInterrupt:
            print()
            code = STOPPED
        self.close()
        return code

    def ask_them(self) -> None:
        """Ask one question after another."""
        end = time.monotonic() + 60 * self.minutes
        while time.monotonic() < end and (self.most is None or self.done < self.most):
            state = states.load(self.root)
            tell(state)
            question = self.following(state)
            if question is None:
                return
            self.seen.append(question.key)
            self.show(question, state)
            try:
                rating = self.rating(question)
            except PassedBy:
                continue
            self.record(question, rating)
            self.done += 1
        if time.monotonic() >= end:
            print()
            say(f"The time is over: {count(self.minutes, 'minute')}.")

    def following(self, state: State) -> Question | None:
        """The next question: by the record as it is now, since another sitting may be writing it."""
        today = states.today()
        later = self.deck.later(state, today) if self.ahead else []
        every = [*self.deck.due(state, today), *self.deck.new(state), *later]
        return next((one for one in every if one.key not in self.seen), None)

    def show(self, question: Question, state: State) -> None:
        """Print a question, and where it is from."""
        print()
        first = f"{len(self.seen)}  "
        why = "" if question.key in state.cards else " (missed)" if question.key in state.predictions else " (new)"
        where = f"Chapter {question.section.chapter}: {question.section.title}{why}"
        print("\n".join(paint(line, "bold") for line in fill(where, first, " " * len(first)).splitlines()))
        print()
        print(markdown(question.text))
        if question.predicted is not None:
            for letter, choice in zip(letters(question.predicted), question.predicted.choices, strict=True):
                say(choice, f"  {letter}  ", "     ")
        print()

    def rating(self, question: Question) -> int:
        """Take the reader's answer and open ours. Returns how well it was remembered, from 1 to 4."""
        if question.predicted is None:
            self.typed("> ")
            self.open(question)
            return self.grade()
        mark = self.compared(question.predicted)
        for line in fill(verdict(question.predicted, mark)).splitlines():
            print(paint(line, "green" if mark == "right" else "red"))
        self.open(question)
        return GOOD if mark == "right" else AGAIN

    def open(self, question: Question) -> None:
        """Print the answer."""
        print()
        print(markdown(question.answer))
        print()

    def grade(self) -> int:
        """What the reader says of an answer in prose; the four grades are explained the first time."""
        if not self.explained:
            self.explained = True
            for letter, (_, word, meaning) in RATINGS.items():
                say(meaning, f"  {letter}  {word:<5}  ", " " * 12)
        while (said := self.typed("How was it? a, h, g or e: ").lower()) not in LETTERS:
            say("Type one of these letters and press Enter: " +
                ", ".join(f"{letter} ({word})" for letter, (_, word, _) in RATINGS.items()) + ".")  # fmt: skip
        return LETTERS[said]

    def compared(self, predicted: Predicted) -> str:
        """Take an answer and compare it; "right" or "wrong". Enter alone says that the reader does not know."""
        while text := self.typed(f"{HOW[predicted.kind]}, or Enter if you do not know: ", letters(predicted)):
            try:
                given = chosen_by(predicted, text) if predicted.choices else [text]
                return MARK[predicted.mark(given)]
            except Unanswerable as error:
                say(f"Not taken: {visible(str(error))}.")
        return "wrong"

    def typed(self, prompt: str, letters: str = "") -> str:
        """A line from the reader. Raises PassedBy or Stopped if it is the key for that, and no letter of a choice."""
        text = self.ask(prompt).strip()
        if text == SKIP:
            raise PassedBy
        if text == QUIT and QUIT not in letters:
            raise Stopped
        return text

    def record(self, question: Question, rating: int) -> None:
        """Write the review to the reader's record, and say when the question comes back.

        Where it cannot be written the reader may make room and try again; nothing else is asked before.
        """

        def put(state: State) -> None:
            state.cards[question.key] = reviewed(state.cards.get(question.key), rating, states.today())

        while True:
            state = states.update(self.root, put)
            tell(state)
            if state.saved and state.writable:
                break
            self.ask("Press Enter to try again, or Ctrl-C to end without this answer: ")
        say(f"It comes back {when(state.cards[question.key].due)}.")

    def close(self) -> None:
        """Say how many were answered, and when the next come back."""
        print()
        state = states.load(self.root)
        tell(state)
        done = f"{count(self.done, 'card')} answered." if self.done else "No card was answered."
        left = len(self.deck.due(state, states.today()))
        say(f"{done} {still(left)} due: {command('review')}" if left else f"{done} {next_ones(self.deck, state)}")


LETTERS = {name: rating for letter, (rating, word, _) in RATINGS.items() for name in (letter, word, str(rating))}


# --- what is said ---


def waiting(cards: Deck, state: State) -> str:
    """How many cards are due and new, as a sentence."""
    due, new = len(cards.due(state, states.today())), len(cards.new(state))
    return f"{are(due, 'card')} due, {new or 'none'} {'is' if new == 1 else 'are'} new."


def are(number: int, noun: str) -> str:
    """So many things, and the verb that follows them.

    >>> are(0, "card"), are(1, "card"), are(3, "card")
    ('No card is', '1 card is', '3 cards are')
    """
    return f"{count(number, noun) if number else f'No {noun}'} {'is' if number < 2 else 'are'}"


def still(number: int) -> str:
    """How many more are due.

    >>> still(1), still(3)
    ('1 more is', '3 more are')
    """
    return f"{number} more {'is' if number == 1 else 'are'}"


def nothing_to_ask(cards: Deck, state: State, name: str | None) -> None:
    """Say when something is due again, and what can be asked before."""
    if not cards.questions:
        say("There are no questions in this clone yet.")
        return
    say(f"No card is due. {next_ones(cards, state)}")
    say(f"To be asked before they are due: {command(f'review {name} --ahead' if name else 'review --ahead')}")
    if name is None:
        say(f"New cards come with the sections that you work through. Those of a chapter or a topic: "
            f"{command('review 04')}, {command('review views')}")  # fmt: skip


def next_ones(cards: Deck, state: State) -> str:
    """When the next cards come back, as a sentence; empty where none does."""
    later = cards.later(state, states.today())
    if not later:
        return ""
    day = state.cards[later[0].key].due
    number = sum(state.cards[one.key].due == day for one in later)
    return f"The next {'comes' if number == 1 else f'{number} come'} back {when(day)}."


def when(day: str) -> str:
    """A day as it is said today."""
    days = (date.fromisoformat(day) - date.fromisoformat(states.today())).days
    return {0: "today", 1: "tomorrow"}.get(days, f"in {days} days, on {day}")


# --- the terminal ---


def is_terminal() -> bool:
    """Whether standard input and output are both a terminal, so that the reader can be asked."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty())


def on_terminal(prompt: str) -> str:
    """One line from the reader. What was typed before the prompt is discarded, so that pasted text is one answer."""
    forget_typed()
    print(prompt, end="", flush=True)
    try:
        line = sys.stdin.readline()
    except OSError as error:  # the terminal was closed
        raise EOFError from error
    if not line:
        raise EOFError
    return line.strip()


if sys.platform == "win32":

    def forget_typed() -> None:
        """Throw away what was typed and not read."""
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()

else:

    def forget_typed() -> None:
        """Throw away what was typed and not read, until nothing more comes."""
        import termios

        with suppress(termios.error, OSError):
            for _ in range(PASTED):
                termios.tcflush(sys.stdin, termios.TCIFLUSH)
                if not select.select([sys.stdin], [], [], QUIET)[0]:
                    return
