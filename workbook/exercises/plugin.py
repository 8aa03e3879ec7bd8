"""How do pytest's results become the result of a rung?

A plugin for the child process: gives check files the fixture `ask`, and turns a failure into a refusal.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbook.exercises.answer_file import (
    AuthorError,
    LibraryError,
    NotStarted,
    Refused,
    answer_frames,
    error_refusal,
    error_text,
)
from workbook.exercises.asking import Ask, ends_in
from workbook.exercises.report import BROKEN, NOT_STARTED, PASSED, REFUSED, Refusal, RungResult, listing, with_asked
from workbook.exercises.value_text import cut, short

LINES = 6  # of an assertion's explanation
EXAMPLES = 20  # that Hypothesis tries


class Judge:
    """Watches one pytest session and keeps its first failure. `begun` exists as soon as the answer may run."""

    def __init__(self, rung: str, answer: Path, begun: Path) -> None:
        self.rung, self.answer, self.begun = rung, answer, begun
        self.ask = Ask(answer, begun)
        self.passed = 0
        self.skipped: list[str] = []  # the reasons
        self.outcome = ""
        self.cell: Any = None  # of the lab sheet, while it runs
        self.refusal: Refusal | None = None

    def result(self) -> RungResult:
        """The result of the session."""
        outcome, refusal = self.outcome or PASSED, self.refusal
        if outcome == PASSED and not self.passed:
            what = {"check": "the check file", "lab": "the lab sheet", "graft": "[carries] tests"}[self.rung]
            skipped = f" ({len(self.skipped)} skipped: {listing(sorted(set(self.skipped)))})" if self.skipped else ""
            outcome, refusal = BROKEN, Refusal(came=f"{what}: no test ran{skipped}")
        return RungResult(self.rung, outcome, tests=self.passed, refusal=refusal)

    def fail(self, outcome: str, refusal: Refusal) -> None:
        """Keep the first failure."""
        if not self.outcome:
            self.outcome, self.refusal = outcome, refusal

    # --- hooks ---

    @pytest.fixture(name="ask")
    def ask_fixture(self) -> Ask:
        """Calls the reader's functions."""
        self.ask.last = None
        return self.ask

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Silence pytest's own output, so that only the answer prints."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            config.pluginmanager.unregister(reporter)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Deselect the tests that run PyTorch, which is not available here."""
        items[:] = [item for item in items if not wants_torch(item)]

    def pytest_collection_finish(self) -> None:
        """Let Hypothesis, where a test uses it, try few examples and the same in every run."""
        if "hypothesis" in sys.modules:
            from hypothesis import settings

            settings.register_profile(
                "workbook",
                max_examples=EXAMPLES,
                derandomize=True,
                deadline=None,
                report_multiple_bugs=False,
            )
            settings.load_profile("workbook")

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """Handle a file that cannot be collected, which is the author's fault unless the answer caused it."""
        report = yield
        if report.failed and report.longrepr is not None:
            self.fail(*self.judge_collection(collector, report.call.excinfo, str(report.longrepr)))
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Record which cell runs."""
        self.cell = item if self.rung == "lab" else None
        try:
            return (yield)
        finally:
            self.cell = None

    def kernel(self) -> Any:
        """The process of the kernel that currently runs a cell."""
        cell = self.cell
        return None if cell is None else cell.parent.kernel.km.provisioner.process

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Judge how a test ended."""
        report = yield
        if report.skipped:
            self.skipped.append(str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr))
        elif report.failed and call.excinfo is not None:
            self.fail(*self.judge(item, call.excinfo))
        elif call.when == "call" and report.passed:
            self.passed += 1
        return report

    # --- judging ---

    def judge_collection(
        self, collector: pytest.Collector, info: pytest.ExceptionInfo[BaseException], text: str
    ) -> tuple[str, Refusal]:
        """The outcome of a file that could not be collected."""
        for error in chain(info.value):
            if guarded(error) or answer_frames(error.__traceback__, self.answer):
                return REFUSED, with_asked(error_refusal(error, self.answer), f"that {collector.name} can be imported")
        lines = [line.removeprefix("E").strip() for line in text.splitlines() if line.startswith("E ")]
        return BROKEN, Refusal(came=f"{collector.name} cannot be collected: {cut(' '.join(lines) or text)}")

    def judge(self, item: pytest.Item, info: pytest.ExceptionInfo[BaseException]) -> tuple[str, Refusal]:
        """The outcome of a test that failed, and its message."""
        error = info.value
        if isinstance(error, NotStarted):
            return NOT_STARTED, not_started(error)
        if isinstance(error, NotImplementedError) and ends_in(error.__traceback__, self.answer):
            frame = answer_frames(error.__traceback__, self.answer)[-1]
            return NOT_STARTED, not_started(NotStarted(frame.name, frame.lineno))
        if isinstance(error, LibraryError):
            return BROKEN, Refusal(came=str(error))
        if isinstance(error, AuthorError):
            return BROKEN, Refusal(came=f"{item.path.name}: {error}")
        if self.rung == "lab":
            return self.judge_cell(item, error)
        asked = asked_by(item)
        if self.rung == "check":
            return self.judge_check(item, info, asked)
        refusal = error_refusal(error, self.answer, asked)
        if isinstance(error, Refused):
            return REFUSED, with_asked(refusal, asked)
        source = statement(info, item.path)
        return REFUSED, replace(
            refusal,
            asked=asked,
            input="\n".join((f"a test of the library, {item.path.name}", *example(error))),
            came=explanation(error),
            accepted=source,
            because="" if refusal.line else "this test of the library passes without your piece",
        )

    def judge_check(
        self, item: pytest.Item, info: pytest.ExceptionInfo[BaseException], asked: str
    ) -> tuple[str, Refusal]:
        """The outcome of a test of a check file."""
        error, last = info.value, self.ask.last
        call = last.call if last is not None else ""
        if isinstance(error, Refused) or answer_frames(error.__traceback__, self.answer) or guarded(error):
            return REFUSED, with_asked(error_refusal(error, self.answer), asked, call)
        if last is None:
            line = next((f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if own(f, item)), 0)
            return BROKEN, Refusal(came=f"{item.path.name}, line {line}: {error_text(error)}")
        came = short(last.value) if last.error is None else error_text(last.error)
        if isinstance(error, AssertionError):
            return REFUSED, Refusal(asked, call, came, statement(info, item.path), explanation(error), last.line)
        because = f"the check cannot go on with it: {error_text(error)}"
        return REFUSED, Refusal(asked, call, came, "", because, last.line)

    def judge_cell(self, item: Any, error: BaseException) -> tuple[str, Refusal]:
        """The outcome of a cell of the lab sheet."""
        from workbook.exercises.cells import cell_refusal

        if not self.begun.exists():
            return BROKEN, Refusal(came=f"the kernel of the lab sheet did not start: {error_text(error)}")
        return cell_refusal(item, error, self.answer)


def not_started(error: NotStarted) -> Refusal:
    """The refusal of a stub."""
    what = f"{error.name} " if error.name else ""
    line = f" (line {error.line})" if error.line else ""
    if error.came:
        return Refusal(came=error.came, line=error.line)
    return Refusal(came=f"{what}is not written yet: it still raises NotImplementedError{line}".strip(), line=error.line)


def guarded(error: BaseException) -> bool:
    """Whether the guard raised the exception."""
    return isinstance(getattr(error, "refusal", None), Refusal)


def chain(error: BaseException | None) -> list[BaseException]:
    """An exception and those that led to it."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def example(error: BaseException) -> list[str]:
    """The falsifying example that Hypothesis found, in its own words."""
    notes = [line for note in getattr(error, "__notes__", ()) for line in str(note).splitlines()]
    return [cut(line.rstrip()) for line in notes if line.strip() and not line.startswith("Explanation")][:LINES]


def own(frame: traceback.FrameSummary, item: pytest.Item) -> bool:
    """Whether a frame is in the test's file."""
    return frame.filename == str(item.path)


def wants_torch(item: pytest.Item) -> bool:
    """Whether a test is the one of a pair that runs PyTorch."""
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get("torch") == "torch"


def asked_by(item: pytest.Item) -> str:
    """What a test asks: the first sentence of its docstring, or its name as one; and its parameters."""
    doc = (getattr(getattr(item, "obj", None), "__doc__", None) or "").strip()
    name = getattr(item, "originalname", None) or item.name
    text = " ".join(doc.split("\n\n")[0].split()) or name.removeprefix("test_").replace("_", " ")
    call = getattr(item, "callspec", None)
    return f"{text} [{call.id}]" if call is not None and not doc else text


def statement(info: pytest.ExceptionInfo[BaseException], path: Path) -> str:
    """The statement of the test's own file at which it failed."""
    for entry in reversed(info.traceback):
        if str(entry.path) == str(path):
            return cut("\n".join(line.strip() for line in str(entry.statement).strip().splitlines()))
    return ""


def explanation(error: BaseException) -> str:
    """The message of a failed test: the first lines of an assertion's explanation, or the exception."""
    if type(error).__name__.startswith("Flaky"):  # Hypothesis asked the same twice
        return "the same call did not give the same result twice"
    text = str(error) if isinstance(error, AssertionError) else error_text(error)
    text = text.partition("\n  Full diff:")[0]  # the values themselves stand before it
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return cut("\n".join(lines[:LINES])) or type(error).__name__
