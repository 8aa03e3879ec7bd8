"""How are many answers to one exercise judged without starting Python for each?

    python -P -m workbook.exercises.warm ROOT EXERCISE LIMIT ANSWER ...

One process imports pytest, and the library as rung 1 sees it (`graft.py`, Note [Watching]). For rung 1 of each answer
it forks: the copy does what a new process does, and no answer sees what another one left. Rungs 2 and 3 get new
processes, since the graft has to be there before the library is. The library with the fault of a repair is planted
once for all answers. A JSON list of the reports is printed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NoReturn

from workbook.exercises import child
from workbook.exercises.answer_file import LIBRARY, AuthorError, LibraryError
from workbook.exercises.catalogue import find
from workbook.exercises.child import Job
from workbook.exercises.fault import pieces
from workbook.exercises.graft import Graft
from workbook.exercises.process import Child
from workbook.exercises.rungs import Start, in_new_process, run_check

STEP = 0.005  # seconds between two looks whether a copy has ended


class Fork:
    """A copy of this process that runs a function and ends: the part of subprocess.Popen that `Child` needs."""

    def __init__(self, function: Callable[[], object]) -> None:
        read, write = os.pipe()
        with warnings.catch_warnings():  # 3.12 warns of threads: the threads of NumPy's BLAS survive a fork
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _become(function, write)
        os.close(write)
        self.stdout: IO[bytes] | None = os.fdopen(read, "rb", buffering=0)
        self.returncode = 0
        self.ended = False

    def poll(self) -> int | None:
        """The exit code; negative: the number of the signal. None while it runs."""
        if not self.ended:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid == 0:
                return None
            self.returncode, self.ended = os.waitstatus_to_exitcode(status), True
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended. Raises TimeoutExpired where it has not after `timeout` seconds."""
        until = float("inf") if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() >= until:
                raise subprocess.TimeoutExpired("a copy of this process", timeout or 0.0)
            time.sleep(STEP)
        return code

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _become(function: Callable[[], object], output: int) -> NoReturn:
    """In the copy: lead a process group, write to `output`, and run the function."""
    code = 1
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, source in ((0, nothing), (1, output), (2, output)):
            os.dup2(source, descriptor)
        os.closerange(3, 64)
        function()
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # where the program of a new process would print it
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def warmed(graft: Graft) -> Start:
    """What starts the rungs of an exercise, rung 1 as a copy of this process."""
    with contextlib.redirect_stdout(io.StringIO()):
        import pytest

        pytest.main(["--version"])  # imports pytest's own plugins
    graft.install()
    graft.load()

    def start(job: Job, settings: Mapping[str, str], groups: Path) -> Child:
        if job.rung != "check":
            return in_new_process(job, settings, groups)

        def judge() -> None:
            os.environ.clear()
            os.environ.update(settings)
            tempfile.tempdir = None
            os.chdir(job.work)
            graft.path = job.answer
            child.judge(job, graft)

        return Child(Fork(judge), groups)

    return start


def folder_of_library() -> Path | None:
    """The folder from which this process imports the library; None if there is none."""
    found = find_spec(LIBRARY)
    return Path(found.origin).parents[1] if found is not None and found.origin is not None else None


def main(root: Path, name: str, limit: float, answers: list[Path]) -> None:
    """Judge the answers and print their reports."""
    exercise = find(root, name)
    start: Start = in_new_process
    planted: Path | None = None
    if hasattr(os, "fork"):
        if exercise.is_repair:
            planted = folder_of_library()
        # A library that cannot be imported is for each new process to tell.
        with contextlib.suppress(AuthorError, LibraryError):
            start = warmed(Graft(pieces(exercise), answers[0], watching=not exercise.is_repair))
    reports = [
        run_check(root, exercise, answer, limit=limit, start=start, planted=planted).to_json() for answer in answers
    ]
    print(json.dumps(reports))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), [Path(one) for one in sys.argv[4:]])
