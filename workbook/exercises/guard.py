"""What must an answer not do while it is checked?

A guard rail, not a jail: an audit hook refuses what would do harm by accident (deleting or writing outside the
temporary folder, starting programs) and what would spoil the exercise (reading the solutions). Code that is meant to
get around it can.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple, NoReturn

from workbook.exercises.report import Refusal

ASKED = "an answer that only computes"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
BYTECODE = "__pycache__"  # Python keeps what it compiled there, also of the library


class Change(NamedTuple):
    """What an audit event does to a file, and which of its arguments name the file."""

    what: str  # in words
    path: int  # the argument that is the path, or a descriptor
    folder: int | None = None  # the argument that is the descriptor of the folder in which a relative path begins
    entry: bool = False  # the name in its folder is changed, not what a link with this name leads to


CHANGES = {
    "os.remove": (Change("delete", 0, 1, entry=True),),
    "os.rmdir": (Change("delete", 0, 1, entry=True),),
    "shutil.rmtree": (Change("delete", 0, 1, entry=True),),
    "os.rename": (Change("rename", 0, 2, entry=True), Change("rename", 1, 3, entry=True)),
    "os.truncate": (Change("write to", 0),),
    "os.mkdir": (Change("make", 0, 2, entry=True),),
    "os.link": (Change("create a link to", 0, 2), Change("make", 1, 3, entry=True)),
    "os.symlink": (Change("make", 1, 2, entry=True),),
    "os.chmod": (Change("change the permissions of", 0, 2),),
    "os.chown": (Change("change the owner of", 0, 3),),
    "os.utime": (Change("change the times of", 0, 3),),
    "shutil.move": (Change("move", 0, entry=True), Change("move", 1)),
    "sqlite3.connect": (Change("write to", 0),),
}
STARTS = frozenset(
    (
        "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
        "os.startfile", "os.startfile/2", "pty.spawn", "_winapi.CreateProcess",
    )
)  # fmt: skip
SIGNALS = frozenset(("os.kill", "os.killpg", "signal.pthread_kill"))
COMPILERS = ("glasstorch.devices.cpp_compiler", "glasstorch.devices.simulator.compiler")
DEVICES = frozenset((os.devnull, "/dev/tty", "nul", ":memory:"))


class GuardError(PermissionError):
    """The guard refused an operation."""

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
        """Install the guard for the rest of this process."""
        os.open = self.opening(os.open)
        os.supports_dir_fd.add(os.open)
        sys.addaudithook(self.hear)

    def opening(self, real: Callable[..., int]) -> Callable[..., int]:
        """An `os.open` that records the folder of a relative path, which its audit event omits."""

        @functools.wraps(real)
        def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: Any = None) -> int:
            if dir_fd is not None:
                dir_fd = operator.index(dir_fd)
                self._opened(path, None, flags, dir_fd)
            return real(path, flags, mode, dir_fd=dir_fd)

        return opened

    def hear(self, event: str, arguments: Sequence[Any]) -> None:
        """Judge one audit event."""
        if event == "open":
            self._opened(*arguments)
        elif event in CHANGES:
            for change in CHANGES[event]:
                folder = None if change.folder is None else arguments[change.folder]
                self._changed(change.what, arguments[change.path], folder, entry=change.entry)
        elif event in STARTS:
            if self.compiling():
                return
            self.refuse(f"it tried to start another program ({event})")
        elif event in SIGNALS:
            self.refuse("it tried to send a signal to a process")

    def _opened(self, path: Any, mode: str | None, flags: int, folder: int | None = None) -> None:
        """Judge the opening of a file."""
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a descriptor that is open already
        if flags & WRITING or any(letter in (mode or "") for letter in "wax+"):
            self._changed("write to", path, folder)
        elif self._place("read", path, folder).startswith(self.solutions):
            self.refuse("it tried to read the solution; write your own, then `workbook solution` shows ours")

    def _changed(self, what: str, path: Any, folder: int | None = None, *, entry: bool = False) -> None:
        """Judge the change of a file."""
        if what == "write to" and (isinstance(path, int) or os.fsdecode(path) in DEVICES):
            return  # a descriptor was judged when it was opened
        full = self._place(what, path, folder, entry=entry)
        if full.startswith(self.temporary) and not full.startswith(self.groups):
            return
        if BYTECODE in full.split(os.sep)[-2:] or self.compiling():
            return
        self.refuse(f"it tried to {what} {full}, outside its temporary folder")

    def _place(self, what: str, path: Any, folder: int | None, *, entry: bool = False) -> str:
        """The real path with links resolved; for an entry, only those in the path of its folder."""
        if isinstance(path, int):
            folder, path = path, ""
        name = os.fsdecode(path)
        if folder is not None and folder >= 0 and not os.path.isabs(name):
            start = path_of(folder)
            if start is None:
                self.refuse(f"it tried to {what} {name or 'a file'}, and its path cannot be determined")
            name = os.path.join(start, name)
        above, last = os.path.split(name)
        if entry and last not in ("", os.curdir, os.pardir):
            return os.path.join(os.path.realpath(above), last)
        return os.path.realpath(name)

    def compiling(self) -> bool:
        """Whether the library is compiling a kernel: then it starts a compiler, and stores the result."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self.answer:
            if frame.f_globals.get("__name__") in COMPILERS:
                return True
            frame = frame.f_back
        return False

    def refuse(self, came: str) -> NoReturn:
        """Raise GuardError. If the answer caused the event, the refusal is recorded first: the error may be caught."""
        line = line_in(self.answer, sys._getframe(1))
        refusal = Refusal(asked=ASKED, came=came, line=line)
        if line is not None:
            self.told(refusal)
        raise GuardError(refusal)


def path_of(descriptor: int) -> str | None:
    """The path of an open file or folder; None if the system does not provide it."""
    try:
        if sys.platform == "darwin":
            import fcntl

            return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None


def line_in(file: str, frame: FrameType | None) -> int | None:
    """The innermost line of a file on a stack."""
    while frame is not None:
        if frame.f_code.co_filename == file:
            return frame.f_lineno
        frame = frame.f_back
    return None


class OutOfReach(MetaPathFinder):
    """Makes a module behave as if it were not installed."""

    def __init__(self, name: str, why: str) -> None:
        self.name, self.why = name, why

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Raise an error for the module and its submodules."""
        if fullname.partition(".")[0] == self.name:
            raise ModuleNotFoundError(self.why, name=fullname)
