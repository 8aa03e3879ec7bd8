"""What has the reader done so far, and how is it kept?

`exercises/progress.json` records what happened to exercises, predictions and reviews. An answer that stands on disk is
never judged by it. Deleting it loses dates, predictions, reviews and passes; `workbook check --all` finds the passes
again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

from workbook.exercises.catalogue import FOLDER, Damaged, Exercise
from workbook.exercises.say import count, program
from workbook.install import take

VERSION = 2  # version 1 knew exercises only
FILE = "progress.json"
LOCK = Path(".cache") / "progress.lock"
PATIENCE = 2.0  # seconds to wait for another command that writes; then it is done without the lock
SHORT_WAIT = 0.02


@dataclass(frozen=True)
class Record:
    """What the reader did with one exercise. Dates are only shown; nothing is computed from them."""

    started: str = ""
    passed: str = ""
    answer: str = ""  # the sha256 of the answer that passed
    hints: int = 0  # how many were shown
    solution: str = ""  # the day when it was shown


@dataclass(frozen=True)
class Prediction:
    """What the reader predicted before an output opened. The first answer to a question is the one that is kept."""

    section: str = ""  # `02-tensor-storage/one-buffer-many-views`
    given: tuple[str, ...] = ()  # the text, or the choices
    mark: str = ""  # one of MARKS; empty while an open answer has not been graded
    day: str = ""


MARKS = ("", "right", "wrong")


@dataclass(frozen=True)
class Card:
    """When a question comes back, and how well it is remembered: the state of one card of FSRS."""

    due: str = ""
    reviewed: str = ""
    stability: float = 0.0  # days until the chance of recall falls to 90 %
    difficulty: float = 0.0  # 1 to 10
    lapses: int = 0  # how often it was not remembered


LONGEST = 36_500  # days; no card comes back later, and none is more stable
EASIEST, HARDEST = 1, 10


@dataclass
class State:
    """Exercises by `chapter/name`, predictions and cards by the key of their question, and the warnings about the file
    they came from."""

    records: dict[str, Record] = field(default_factory=dict)
    last: str = ""  # the exercise that was started or checked last
    predictions: dict[str, Prediction] = field(default_factory=dict)
    cards: dict[str, Card] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    writable: bool = True
    saved: bool = True  # false where writing the file failed

    def of(self, exercise: Exercise) -> Record:
        """The record of an exercise; an empty one if it was never started."""
        return self.records.get(key(exercise), Record())

    def standing(self, exercise: Exercise) -> str:
        """One of `not started`, `started`, `passed`, and `changed` (the answer differs from the one that passed)."""
        record = self.of(exercise)
        here = exercise.answer.is_file()
        if record.passed:
            return "changed" if here and digest(exercise.answer) != record.answer else "passed"
        return "started" if here else "not started"


def key(exercise: Exercise | Damaged) -> str:
    """The name of an exercise in the file, without its number, which may change."""
    return f"{exercise.chapter}/{exercise.name}"


def digest(path: Path, *, plain_ends: bool = False) -> str:
    """The sha256 of a file, as it is or with plain line ends; empty if it cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return ""
    return hashlib.sha256(content.replace(b"\r\n", b"\n") if plain_ends else content).hexdigest()


def today() -> str:
    """Today's date, as it is written to the file."""
    return datetime.now(UTC).astimezone().date().isoformat()


def load(root: Path) -> State:
    """What the reader has done. A damaged file is put aside, and the state is rebuilt from the answers on disk."""
    try:
        return read(root)
    except DamagedState:
        return update(root, lambda state: None)


def note(
    root: Path,
    exercise: Exercise,
    change: Callable[[Record], Record],
    before: State | None = None,
    *,
    worked_on: bool = True,
) -> State:
    """Change the record of an exercise, make it the current one, and write the file.

    What the state before had to say is said by the one that comes back.
    """

    def put(state: State) -> None:
        state.records[key(exercise)] = change(state.of(exercise))
        if worked_on:
            state.last = key(exercise)

    state = update(root, put)
    if before is not None:
        state.said = list(dict.fromkeys([*before.said, *state.said]))
    return state


def update(root: Path, put: Callable[[State], None]) -> State:
    """Read, change and write the file under a lock, so that no change of another command is lost.

    Where it cannot be written, the state that comes back says so in `said`, and everything else is done all the same.
    """
    with alone(root):
        try:
            state = read(root)
        except DamagedState as damage:
            state = put_aside(root, str(damage))
        before = contents(state)
        put(state)
        if state.writable and (state.said or before != contents(state)):
            write(root, state)
    return state


def contents(state: State) -> dict[str, object]:
    """The state as the JSON value that the file holds."""
    return {
        "version": VERSION,
        "last": state.last,
        "exercises": {name: spare(record) for name, record in sorted(state.records.items())},
        "predictions": {key: spare(prediction) for key, prediction in sorted(state.predictions.items())},
        "cards": {key: spare(card) for key, card in sorted(state.cards.items())},
    }


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold the lock of the file, or continue without it if it is not available."""
    path = root / LOCK
    try:
        path.parent.mkdir(exist_ok=True)
        stream = path.open("a")
    except OSError:
        yield
        return
    with stream:
        end = time.monotonic() + PATIENCE
        while not take(stream) and time.monotonic() < end:
            time.sleep(SHORT_WAIT)
        yield


# --- the file ---


class DamagedState(Exception):
    """The file exists, but no version of the workbook wrote it. The message says what is wrong with it."""


def read(root: Path) -> State:
    """The contents of the file. A file from a newer version is neither read nor written."""
    path = root / FOLDER / FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return State()
    except OSError as error:
        return State(said=[f"{FOLDER}/{FILE} cannot be read ({error.strerror}); it is left as it is."], writable=False)
    return parse(content)


def parse(content: bytes) -> State:
    """The state that the text of a file holds, whatever version of the workbook wrote it."""
    try:
        table = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DamagedState("it is not JSON") from error
    if not isinstance(table, dict) or type(table.get("version")) is not int:
        raise DamagedState("it does not say its version")
    if table["version"] > VERSION:
        said = (
            f"{FOLDER}/{FILE} was written by a newer workbook (version {table['version']}; this one knows {VERSION}). "
            "It is left as it is, and nothing is recorded. To get the newer workbook: git pull"
        )
        return State(said=[said], writable=False)
    if table["version"] < 1 or not isinstance(table.get("last", ""), str):
        raise DamagedState(f"its contents are not those of version {table['version']}")
    kinds = {name: read_entries(table, name, kind) for name, kind in ENTRIES.items()}
    return State(kinds["exercises"], table.get("last", ""), kinds["predictions"], kinds["cards"])


def salvaged(content: bytes) -> State:
    """What a damaged file still holds: each entry that can be read by itself."""
    try:
        table = json.loads(content)
    except (ValueError, RecursionError):
        return State()
    kinds: dict[str, dict[str, Any]] = {name: {} for name in ENTRIES}
    for name, kind in ENTRIES.items():
        entries = table.get(name) if isinstance(table, dict) else None
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            with suppress(DamagedState):
                kinds[name][key] = read_entry(key, entry, kind)
    return State(kinds["exercises"], "", kinds["predictions"], kinds["cards"])


def check(name: str, entry: Record | Prediction | Card) -> None:
    """Refuse an entry whose values no command has written."""
    if isinstance(entry, Prediction) and entry.mark not in MARKS:
        raise DamagedState(f"its prediction {name} has mark = {entry.mark!r}")
    if isinstance(entry, Card):
        check_card(name, entry)


def check_card(key: str, card: Card) -> None:
    """Refuse a card that no review has left behind."""
    for name, day in (("due", card.due), ("reviewed", card.reviewed)):
        if not is_day(day):
            raise DamagedState(f"its card {key} has {name} = {day!r}")
    if not 0 < card.stability <= LONGEST:
        raise DamagedState(f"its card {key} has stability = {card.stability!r}")
    if not EASIEST <= card.difficulty <= HARDEST:
        raise DamagedState(f"its card {key} has difficulty = {card.difficulty!r}")


def is_day(text: str) -> bool:
    """Whether a text is a date as `today` writes it.

    >>> is_day("2026-11-26"), is_day("20261126"), is_day("soon")
    (True, False, False)
    """
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


Entry = TypeVar("Entry", Record, Prediction, Card)
ENTRIES: dict[str, Any] = {"exercises": Record, "predictions": Prediction, "cards": Card}


def read_entries(table: Mapping[str, object], name: str, kind: type[Entry]) -> dict[str, Entry]:
    """The entries of one of the file's tables; version 1 had only that of the exercises."""
    entries = table.get(name, None if name == "exercises" or table["version"] != 1 else {})
    if not isinstance(entries, dict):
        raise DamagedState(f"its contents are not those of version {table['version']}")
    return {key: read_entry(key, entry, kind) for key, entry in entries.items()}


def read_entry(name: str, entry: object, kind: type[Entry]) -> Entry:
    """One entry of the file."""
    if not isinstance(entry, Mapping):
        raise DamagedState(f"its entry {name} is not a table")
    values: dict[str, Any] = {}
    for item in fields(kind):
        value = entry.get(item.name, item.default)
        if item.default == () and isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = tuple(value)
        if isinstance(item.default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(item.default):
            raise DamagedState(f"its entry {name} has {item.name} = {value!r}")
        if isinstance(value, int | float) and not 0 <= value < math.inf:
            raise DamagedState(f"its entry {name} has {item.name} = {value!r}")
        values[item.name] = value
    read = kind(**values)
    check(name, read)
    return read


def put_aside(root: Path, damage: str) -> State:
    """Keep the damaged file under another name, and start again from what can be read of it and the answers on disk."""
    folder, state = root / FOLDER, State()
    with suppress(OSError):
        state = salvaged((folder / FILE).read_bytes())
    state.records = rebuilt(root) | state.records
    number = 1
    while (aside := folder / f"{FILE}.damaged-{number}").exists():
        number += 1
    beginning = f"{FOLDER}/{FILE} is damaged: {damage}."
    try:
        (folder / FILE).rename(aside)
    except OSError as error:
        state.said = [f"{beginning} It could not be put aside ({error.strerror}), so nothing is recorded."]
        state.writable = False
        return state
    read = f"{count(len(state.predictions), 'prediction')} and {count(len(state.cards), 'card')} could be read."
    kept = f"It is kept as {FOLDER}/{aside.name}; your answers are untouched. {read}"
    state.said = [f"{beginning} {kept} To find the passed ones again: {program()} check --all"]
    return state


def rebuilt(root: Path) -> dict[str, Record]:
    """The records that follow from the answers on disk: each was started at some time."""
    answers = sorted((root / FOLDER).glob("[0-9][0-9]-*/[0-9][0-9]_*/answer.py"))
    return {f"{path.parts[-3]}/{path.parts[-2][3:]}": Record(started=today()) for path in answers}


def write(root: Path, state: State) -> None:
    """Replace the file by a new one atomically; warn if that fails."""
    text = json.dumps(contents(state), indent=1) + "\n"
    try:
        replace_file(root / FOLDER / FILE, text.encode())
    except OSError as error:
        state.saved = False
        state.said.append(f"Your progress could not be saved in {FOLDER}/{FILE} ({error.strerror}); the rest was done.")


def spare(entry: Record | Prediction | Card) -> dict[str, object]:
    """An entry without its empty fields."""
    return {name: value for name, value in asdict(entry).items() if value}


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically: readers see either the old content or the new one."""
    new = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        new.write_bytes(content)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


# --- what happens to an exercise ---


def begun(record: Record) -> Record:
    """The exercise was started; the first day counts."""
    return replace(record, started=record.started or today())


def passed(answer: str) -> Callable[[Record], Record]:
    """The answer with this sha256 passed every rung; the first day counts, until the exercise is opened again."""
    return lambda record: replace(begun(record), passed=record.passed or today(), answer=answer)


def reopened(record: Record) -> Record:
    """The exercise no longer passes."""
    return replace(begun(record), passed="", answer="")


def hinted(number: int) -> Callable[[Record], Record]:
    """This many hints were shown."""
    return lambda record: replace(record, hints=max(record.hints, number))


def solved(record: Record) -> Record:
    """The solution was shown; the first day counts."""
    return replace(record, solution=record.solution or today())


# --- what happens to predictions ---


def predicted(key: str, prediction: Prediction) -> Callable[[State], None]:
    """The reader committed to an answer. An earlier answer stays, but an open one may be graded."""

    def put(state: State) -> None:
        before = state.predictions.get(key)
        if before is None:
            state.predictions[key] = replace(prediction, day=prediction.day or today())
        elif not before.mark and prediction.mark:
            state.predictions[key] = replace(before, mark=prediction.mark)

    return put


def merged(other: State) -> Callable[[State], None]:
    """Add the predictions of another record, of which those that were here first stay."""

    def put(state: State) -> None:
        for key, prediction in other.predictions.items():
            predicted(key, prediction)(state)

    return put
