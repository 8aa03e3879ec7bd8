"""What must an answer not do while it is checked?

A guard rail, not a jail: an audit hook refuses what would hurt by accident (deleting or writing outside the temporary
folder, starting programs) and what would spoil the exercise (reading the solutions). Code that wants to get
around it can.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from workbook.exercises.report import Refusal

ASKED = "an answer that only computes"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
BYTECODE = "__pycache__"  # Python keeps what it compiled there, also of the library

# Audit event -> what it does, in words, and which of its arguments are paths that are changed.
CHANGES = {
    "os.remove": ("delete", (0,)),
    "os.rmdir": ("delete", (0,)),
    "shutil.rmtree": ("delete", (0,)),
    "os.rename": ("rename", (0, 1)),
    "os.truncate": ("write to", (0,)),
    "os.mkdir": ("make", (0,)),
    "os.link": ("make", (1,)),
    "os.symlink": ("make", (1,)),
    "os.chmod": ("change the permissions of", (0,)),
    "os.chown": ("change the owner of", (0,)),
    "os.utime": ("change the times of", (0,)),
    "shutil.move": ("move", (0, 1)),
    "sqlite3.connect": ("write to", (0,)),
}
STARTS = frozenset(
    (
        "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
        "os.startfile", "os.startfile/2", "pty.spawn", "_winapi.CreateProcess",
    )
)  # fmt: skip
SIGNALS = frozenset(("os.kill", "os.killpg", "signal.pthread_kill"))
DEVICES = frozenset((os.devnull, "/dev/tty", "nul", ":memory:"))


class GuardError(PermissionError):
    """Something was tried that the guard refuses."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.came)
        self.refusal = refusal


class Guard:
    """The audit hook, and what it has refused."""

    def __init__(self, temporary: Path, solutions: Path, answer: Path, told: Callable[[Refusal], None]) -> None:
        self.temporary = os.path.realpath(temporary) + os.sep
        self.groups = self.temporary + "groups" + os.sep  # the command kills the processes that are named there
        self.solutions = os.path.realpath(solutions) + os.sep
        self.answer = str(answer)
        self.told = told  # called with each refusal of the answer's, which may catch what is raised

    def install(self) -> None:
        """Put the guard in force for the rest of this process."""
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: Sequence[Any]) -> None:
        """Judge one audit event."""
        if event == "open":
            self._opened(*arguments)
        elif event in CHANGES:
            what, places = CHANGES[event]
            for i in places:
                self._changed(what, arguments[i])
        elif event in STARTS:
            self.refuse(f"it tried to start another program ({event})")
        elif event in SIGNALS:
            self.refuse("it tried to send a signal to a process")

    def _opened(self, path: Any, mode: str | None, flags: int) -> None:
        """Judge the opening of a file."""
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a descriptor that is open already
        if flags & WRITING or any(letter in (mode or "") for letter in "wax+"):
            self._changed("write to", path)
        else:
            self._read(path)

    def _changed(self, what: str, path: Any) -> None:
        """Judge the change of a file."""
        if isinstance(path, int):
            return
        full = os.path.realpath(os.fsdecode(path))
        if full.startswith(self.temporary) and not full.startswith(self.groups):
            return
        if full in DEVICES or os.fsdecode(path) in DEVICES:
            return
        if BYTECODE in full.split(os.sep)[-2:]:
            return
        self.refuse(f"it tried to {what} {full}, outside its temporary folder")

    def _read(self, path: Any) -> None:
        """Judge the reading of a file that may be a solution."""
        if os.path.realpath(os.fsdecode(path)).startswith(self.solutions):
            self.refuse("it tried to read the solution; write your own, then `workbook solution` shows ours")

    def refuse(self, came: str) -> None:
        """Raise; where it was the answer's doing, write it down before, whether or not the answer catches it."""
        line = line_in(self.answer, sys._getframe(1))
        refusal = Refusal(asked=ASKED, came=came, line=line)
        if line is not None:
            self.told(refusal)
        raise GuardError(refusal)


def line_in(file: str, frame: FrameType | None) -> int | None:
    """The innermost line of a file on a stack."""
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back
    return None


class OutOfReach(MetaPathFinder):
    """Makes a module as good as not installed."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Raise for the module and what is below it."""
        if fullname.partition(".")[0] == self.name:
            raise ModuleNotFoundError(self.why, name=fullname)
