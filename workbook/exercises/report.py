"""What did a check find, and how is it told to the reader?

A report is data first: it goes from the child process to the command as JSON, and `progress` and `dev check` read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from workbook.exercises import say
from workbook.exercises.catalogue import checkout
from workbook.exercises.say import command, visible

PASSED, REFUSED, NOT_STARTED, NOT_RUN, BROKEN = "passed", "refused", "not started", "not run", "broken"
RUNGS = ("check", "lab", "graft")
TITLES = {"check": "its own tests", "lab": "the lab sheet", "graft": "inside glasstorch"}
EXIT_PASSED, EXIT_REFUSED, EXIT_NOT_STARTED = 0, 1, 3
NARROW = 30  # columns below which the labels get lines of their own
LABEL = 11  # columns of a label and the space after it


@dataclass(frozen=True)
class Refusal:
    """Why a rung did not pass, in the words that the reader sees, without terminal control characters."""

    asked: str = ""
    input: str = ""
    came: str = ""
    accepted: str = ""
    because: str = ""
    line: int | None = None  # of answer.py
    trace: tuple[str, ...] = ()  # what stood in answer.py when it was raised, outermost first

    def __post_init__(self) -> None:
        for name in ("asked", "input", "came", "accepted", "because"):
            object.__setattr__(self, name, visible(getattr(self, name)))
        object.__setattr__(self, "trace", tuple(map(visible, self.trace)))

    def rows(self) -> list[tuple[str, str]]:
        """The labels and texts that are not empty, in the order of printing."""
        rows = [
            ("asked", self.asked),
            ("input", self.input),
            ("got", self.came),
            ("expected", self.accepted),
            ("because", self.because),
            ("in", "\n".join(self.trace)),
        ]
        return [(label, text) for label, text in rows if text]


@dataclass(frozen=True)
class RungResult:
    """The result of one rung."""

    rung: str
    outcome: str = NOT_RUN
    seconds: float = 0.0
    tests: int = 0  # that passed
    refusal: Refusal | None = None
    replaced: tuple[str, ...] = ()  # what was replaced in the library, and how often it was called
    calls: Mapping[str, int] | None = None  # piece -> calls
    printed: tuple[str, ...] = ()  # what the answer printed: its first lines, and how much was left out

    def __post_init__(self) -> None:
        object.__setattr__(self, "printed", tuple(map(visible, self.printed)))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The result from the values of `as_json`."""
        refusal = data.get("refusal")
        values = {**data, "replaced": tuple(data["replaced"]), "printed": tuple(data["printed"])}
        if refusal is not None:
            values["refusal"] = Refusal(**{**refusal, "trace": tuple(refusal["trace"])})
        return cls(**values)

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """The results of the rungs of one exercise."""

    identity: str
    title: str
    answer: str  # as it is typed from the clone's top
    rungs: tuple[RungResult, ...]
    edited: tuple[str, ...] = ()  # shipped files that are not as they were shipped
    answer_sha256: str = ""  # of the text that was judged

    @property
    def passed(self) -> bool:
        """Whether every rung passed. A pass only counts if `edited` is empty, too."""
        return bool(self.rungs) and all(rung.outcome == PASSED for rung in self.rungs)

    @property
    def counts(self) -> bool:
        """Whether the exercise is done: all three rungs passed, and no file that judges was edited."""
        return self.passed and not self.edited and len(self.rungs) == len(RUNGS)

    @property
    def failed(self) -> RungResult | None:
        """The rung that did not pass."""
        return next((rung for rung in self.rungs if rung.outcome not in (PASSED, NOT_RUN)), None)

    @property
    def outcome(self) -> str:
        """The outcome of the exercise."""
        failed = self.failed
        return failed.outcome if failed is not None else PASSED if self.passed else NOT_RUN

    @property
    def exit_code(self) -> int:
        """The exit code of the command; a pass that does not count, because a file was edited, is a failure."""
        if self.passed and self.edited:
            return EXIT_REFUSED
        return {PASSED: EXIT_PASSED, NOT_STARTED: EXIT_NOT_STARTED}.get(self.outcome, EXIT_REFUSED)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The report from the text of `to_json`."""
        data = json.loads(text)
        rungs = tuple(RungResult.from_json(rung) for rung in data["rungs"])
        return cls(**{**data, "rungs": rungs, "edited": tuple(data["edited"])})

    def to_json(self) -> str:
        """The report as text that scripts can read."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)


# --- the telling ---


@dataclass(frozen=True)
class Around:
    """What the closing sentences depend on besides the report."""

    options: tuple[str, ...] = ()  # those of the check that say which file was judged
    ours: bool = True  # a solution is there to compare with
    back: Callable[[Sequence[str]], str] = checkout  # how to get edited files back


def render(report: Report, width: int = 80) -> str:
    """The whole report as text, without colour."""
    parts = [head(report.identity, report.title, report.answer, width), ""]
    parts += [rung_text(rung, width) for rung in report.rungs]
    parts += ["", closing(report, width)]
    return "\n".join(parts) + "\n"


def head(identity: str, title: str, answer: str, width: int = 80) -> str:
    """The line above the rungs: which exercise, which file."""
    line = f"{identity}  {title}"
    if len(line) + 4 + len(answer) <= width:
        return f"{line}    {answer}"
    return "\n".join([*say.lines(line, width, hanging=" " * (len(identity) + 2)), answer])


def rung_text(rung: RungResult, width: int = 80) -> str:
    """A rung's line, and below it the details."""
    title = f"{RUNGS.index(rung.rung) + 1}  {TITLES[rung.rung]:<18}"
    time = f"  {rung.seconds:.1f} s" if rung.outcome != NOT_RUN else ""
    lines = [f"{title} {rung.outcome}{time}".rstrip()]
    if rung.refusal is not None:
        for label, text in rung.refusal.rows():
            lines += row(label, text, width)
    for sentence in rung.replaced if rung.outcome == PASSED else ():
        lines += say.lines(sentence, width, "   ", "   ")
    if rung.printed:
        lines += row("printed", "\n".join(rung.printed), width)
    return "\n".join(lines)


def row(label: str, text: str, width: int) -> list[str]:
    """A label and its text beside it, or below it if the terminal is narrow."""
    beside = width >= NARROW + LABEL + 3
    margin = "   " + " " * (LABEL if beside else 2)
    lines = [part for line in text.splitlines() or [""] for part in indented(line, width, margin) or [""]]
    if beside:
        lines[0] = f"   {label:<{LABEL}}{lines[0].strip()}".rstrip()
        return lines
    return [f"   {label}", *lines]


def indented(line: str, width: int, margin: str) -> list[str]:
    """A line of another text as lines that fit, all with its indentation."""
    margin += line[: len(line) - len(line.lstrip())]
    return say.lines(line.strip(), width, margin, margin)


def closing(report: Report, width: int = 80, around: Around | None = None) -> str:
    """What to do next, in one or two sentences; before it, what was edited."""
    around = around or Around()
    parts = []
    if report.edited:
        names = " and ".join(report.edited)
        parts.append(
            f"{names} {'is' if len(report.edited) == 1 else 'are'} not as shipped, "
            "so this run does not count as passed. "
            f"To restore {'it' if len(report.edited) == 1 else 'them'}: {around.back(report.edited)}"
        )
    parts.append(next_step(report, around))
    return "\n".join("\n".join(say.lines(part, width)) for part in parts)


def next_step(report: Report, around: Around) -> str:
    """The sentence that says what to do next."""
    again = command(" ".join(["check", report.identity, *around.options]))
    hint = command(f"hint {report.identity}")
    failed = report.failed
    if failed is None:
        if report.counts and around.options:
            return "It passes. This is not recorded, because the file was named with --answer."
        if report.counts:
            ours = f" Compare with ours: {command(f'solution {report.identity}')}." if around.ours else ""
            return f"Done.{ours} Go on: {command('next')}."
        if report.passed and report.edited:
            return f"Next: bring back what was edited, then {again} again."
        return f"Next: {again} runs all three rungs."
    if failed.outcome == NOT_STARTED:
        return f"Next: write {report.answer}, then {again}. Where to begin: {hint}."
    if failed.outcome == BROKEN and report.edited:
        return f"Next: bring back what was edited, then {again} again."
    if failed.outcome == BROKEN:
        doctor = command("doctor")
        return (
            f"The exercise or the installation is at fault, not your answer. To look at the installation: {doctor}. "
            "If that finds nothing, please report the output above."
        )
    line = failed.refusal.line if failed.refusal is not None else None
    where = f" (line {line})" if line else ""
    return f"Next: fix {Path(report.answer).name}{where}, then {again} again. Stuck? {hint}"


def with_asked(refusal: Refusal, asked: str, call: str = "") -> Refusal:
    """The refusal, completed with the question and the input if it does not state them."""
    return replace(refusal, asked=refusal.asked or asked, input=refusal.input or call)


def listing(names: Sequence[str]) -> str:
    """Names as in a sentence: `a`, `a and b`, `a, b and c`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def kind(path: Path) -> str:
    """What a path is that should be a file and is not."""
    if path.is_dir():
        return "a folder"
    if path.is_symlink() and not path.exists():
        return f"a link to {os.readlink(path)}, which is not there"
    return "not a plain file"


def short_path(path: Path, root: Path) -> str:
    """A path relative to the clone's top folder."""
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return str(path)
