"""How does a command show what it is doing, and for how long it has done so?

Standard library only: `bootstrap.py` uses it before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

TICK = 0.2  # seconds between two drawings of the living line
PLAIN_EVERY = 15.0  # seconds between two lines where there is no terminal


def duration(seconds: float) -> str:
    """A duration in readable units.

    >>> duration(0.34), duration(12.5), duration(83)
    ('0.3 s', '12 s', '1 min 23 s')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def is_living(stream: TextIO) -> bool:
    """Whether a line on the stream can be overwritten."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class Progress:
    """One line that says what happens and how long it has taken.

    On a terminal the line is drawn again and again; elsewhere a new one is printed every quarter of a minute.
    When the work ends the line stays, with the time it took.
    """

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title = title
        self.stream = stream or sys.stdout
        self.detail = ""
        self.outcome = ""
        self.living = is_living(self.stream)
        self.started = time.monotonic()
        self.finished = threading.Event()
        self.clock = threading.Thread(target=self._tick, daemon=True)

    @property
    def elapsed(self) -> float:
        """Seconds since the work began."""
        return time.monotonic() - self.started

    def __enter__(self) -> Self:
        if not self.living:
            self._write(f"{self.title} ...\n")
        self.clock.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finished.set()
        self.clock.join()
        if self.living:
            self._write("\r\x1b[K")
        if kind is None:
            self._write(f"{self.title}: {self.outcome}{duration(self.elapsed)}\n")
        elif self.living:
            self._write(f"{self.title} ...\n")

    def _tick(self) -> None:
        while not self.finished.wait(TICK if self.living else PLAIN_EVERY):
            line = f"{self.title} ... {duration(self.elapsed)}"
            if self.detail:
                line += f"  {self.detail}"
            if self.living:
                width = shutil.get_terminal_size().columns - 1
                self._write(f"\r\x1b[K{line[:width]}")
            else:
                self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def run(
    title: str,
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    detail: Callable[[str], str] = lambda line: "",
) -> tuple[int, str]:
    """Run a command behind a progress line. Returns its exit code and all its output.

    `detail` turns a line that the command printed into the words beside the clock, or into nothing.
    """
    printed = []
    with (
        Progress(title) as progress,
        subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            progress.detail = detail(line.strip()) or progress.detail
        if process.wait() != 0:
            progress.outcome = "failed after "
    return process.returncode, "".join(printed)
