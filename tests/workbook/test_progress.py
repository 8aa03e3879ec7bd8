"""Is a reader told what happens and for how long, on a terminal and without one?"""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from workbook import progress
from workbook.progress import Progress, run


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "TICK", 0.01)
    monkeypatch.setattr(progress, "PLAIN_EVERY", 0.01)
    monkeypatch.setenv("TERM", "xterm")


def until(question: Callable[[], bool]) -> None:
    """Ask again until the answer is yes; what hangs is pytest-timeout's business."""
    while not question():
        time.sleep(0.01)


def test_without_a_terminal_there_are_only_lines() -> None:
    stream = io.StringIO()
    with Progress("Building", stream) as work:
        work.detail = "page 3"
        until(lambda: "page 3" in stream.getvalue())
    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "Building ..."
    assert re.fullmatch(r"Building \.\.\. \d+\.\d s  page 3", lines[-2])
    assert re.fullmatch(r"Building: \d+\.\d s", lines[-1])


def test_on_a_terminal_one_line_is_drawn_again_and_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    with Progress("Building a long title", stream):
        until(lambda: stream.getvalue().count("\r") > 3)
    drawn = stream.getvalue().split("\r\x1b[K")
    assert len(drawn) > 3
    assert set(drawn[1:-1]) <= {"", "Building a long tit"}
    assert re.fullmatch(r"Building a long title: \d+\.\d s\n", drawn[-1])


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with Progress("Building", stream):
        time.sleep(0.03)
    assert "\x1b" not in stream.getvalue()


def test_work_that_breaks_off_claims_no_success() -> None:
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), Progress("Building", stream):
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("Building ...\n")


def test_run_returns_the_exit_code_and_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "import os, sys; print(os.getcwd(), flush=True); print('bad', file=sys.stderr); sys.exit(3)"
    code, output = run("Trying", [sys.executable, "-c", script], folder=tmp_path)
    assert code == 3
    assert output.splitlines() == [str(tmp_path), "bad"]
    assert re.search(r"Trying: failed after \d", capsys.readouterr().out)


def test_the_words_beside_the_clock_come_from_the_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "import time; print('step 1', flush=True); print('noise', flush=True); time.sleep(0.2)"
    words = {"step 1": "the first step"}
    run("Trying", [sys.executable, "-c", script], folder=tmp_path, detail=lambda line: words.get(line, ""))
    assert "s  the first step\n" in capsys.readouterr().out
