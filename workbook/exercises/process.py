"""How does foreign code run within limits of time, place and output?

One child process in a process group of its own: its output is read as it comes, the beginning kept and the rest
counted; at its end, at the time limit, and at Ctrl-C the whole group is killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

KEPT = 4096  # bytes of output kept
GRACE = 1.5  # seconds after the limit in which the child may end by itself: it writes down where it hung
DRAIN = 1.0  # seconds to wait for the last output
POSIX = os.name == "posix"
OWN_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # Windows interrupts whole groups only

# What of the reader's environment would change what is run, or how.
UNWANTED = (
    "PYTEST_", "COVERAGE_", "COV_", "PYTHON", "GLASSTORCH_", "IPYTHON", "JUPYTER_", "CI", "FORCE_COLOR", "BASH_ENV",
)  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How a child process ended."""

    code: int  # negative: the number of the signal
    seconds: float
    timed_out: bool
    output: str  # its beginning
    left_out: int  # bytes of output that were not kept

    @property
    def how(self) -> str:
        """How the process ended, as text."""
        if self.code < 0:
            with contextlib.suppress(ValueError):
                return f"was killed ({signal.Signals(-self.code).name})"
        return f"ended with exit code {self.code}"


class Process(Protocol):
    """What `Child` needs of a process: this part of subprocess.Popen."""

    pid: int
    stdout: IO[bytes] | None
    returncode: int

    def wait(self, timeout: float | None = None) -> int: ...
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...


class Interruptible(Protocol):
    """What `interrupt` needs of a process, whoever waits for it."""

    def send_signal(self, signal: int, /) -> None: ...


def interrupt(process: Interruptible) -> None:
    """Have a process that began with OWN_GROUP stop, as Ctrl-C does; one that has ended is left alone.

    On Windows that is Ctrl-Break, which `workbook/cli.py` treats as Ctrl-C.
    """
    with contextlib.suppress(OSError):
        process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))


class Child:
    """A running child process with everything that it starts."""

    def __init__(self, process: Process, groups: Path) -> None:
        self.process = process
        self.groups = groups  # a folder: each file's name is a process that leads a group of its own
        self.started = self.last_heard = time.monotonic()
        self.killed = False
        self.kept = bytearray()
        self.left_out = 0
        self.reader = threading.Thread(target=self._drain, daemon=True)
        self.reader.start()

    def _drain(self) -> None:
        """Read all output as it arrives."""
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(descriptor, 1 << 16):
                room = max(KEPT - len(self.kept), 0)
                self.kept += chunk[:room]
                self.left_out += len(chunk) - min(room, len(chunk))
        self.last_heard = time.monotonic()  # it closed its output, or ended

    def wait(self, limit: float) -> Ended:
        """Wait until the child ends or its time limit is reached; none of its processes runs afterwards."""
        timed_out = False
        try:
            self.process.wait(max(limit + GRACE - (time.monotonic() - self.started), 0.0))
        except subprocess.TimeoutExpired:
            timed_out = True
        self.kill()
        seconds = (time.monotonic() if self.reader.is_alive() else self.last_heard) - self.started
        output = bytes(self.kept).decode("utf-8", "replace")
        return Ended(self.process.returncode, seconds, timed_out, output, self.left_out)

    def kill(self) -> None:
        """Kill the process and all that it started; only once, because process ids are reused."""
        if self.killed:
            return
        self.killed = True
        for leader in self._leaders():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
        if not POSIX and self.process.poll() is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(self.process.pid)], capture_output=True, check=False)
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        self.reader.join(DRAIN)
        if not self.reader.is_alive() and self.process.stdout is not None:
            self.process.stdout.close()

    def _leaders(self) -> list[int]:
        """The process groups to kill."""
        if not POSIX:
            return []
        others = [int(path.name) for path in self.groups.glob("*") if path.name.isdigit()]
        return [self.process.pid, *(number for number in others if number > 1 and number != os.getpgrp())]


def spawn(command: Sequence[str], folder: Path, environment: Mapping[str, str], groups: Path) -> Child:
    """Start a program as a child process."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=POSIX,
        creationflags=OWN_GROUP,
    )
    return Child(process, groups)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is deleted afterwards, even if Ctrl-C ended the work in it."""
    folder = Path(tempfile.mkdtemp(prefix="workbook-")).resolve()
    try:
        yield folder
    finally:
        with uninterrupted():
            remove(folder)


def remove(folder: Path) -> None:
    """Delete a folder, even if permissions were removed from its contents."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for path in [folder, *folder.rglob("*")]:
            if path.is_dir() and not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C until the end of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def environment(code: Path, temporary: Path, library: Path | None = None) -> dict[str, str]:
    """The environment of a child: the reader's, without variables that would change the result.

    `library` is the folder with the library that it imports; the clone's own if it is None.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(UNWANTED)}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join((str(code), str(library or code / "reference"))),
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "NO_COLOR": "1",
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
    }


def python(*arguments: str) -> list[str]:
    """The command that runs this Python; the current folder is not searched for modules."""
    return [sys.executable, "-P", *arguments]
