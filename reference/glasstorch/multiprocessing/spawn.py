"""How is a function run in several processes, and its error brought back?

Mirrors: torch/multiprocessing/spawn.py
Differs: an error travels through a pipe as text, not through a file.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process failed."""

    __slots__ = ("error_index", "error_pid")

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception, whose traceback is in the message."""


class ProcessExitedException(ProcessException):
    """A process ended without an exception: with an exit code, or by a signal, which has a name."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], errors: Connection) -> None:
    """What a process runs: the function, whose error is sent back as text."""
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent ends by it too
    except Exception:  # noqa: BLE001 (whatever the function raises is the parent's to raise)
        errors.send(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that run one function: `join` waits for them."""

    def __init__(self, processes: list[Any], errors: list[Connection]) -> None:
        self.processes, self.errors = processes, errors
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends; True when all have ended well, False while some run.

        If one fails, the others are terminated, and killed after `grace_period` seconds, and its error is raised.
        """
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._stop(grace_period)
        raise self._error_of(failed)

    def _stop(self, grace_period: float | None) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + (30 if grace_period is None else grace_period)
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                warnings.warn(f"process {process.pid} did not end when terminated, and is killed", stacklevel=3)
                process.kill()
                process.join()

    def _error_of(self, index: int) -> ProcessException:
        """The exception for a process that failed."""
        process, errors = self.processes[index], self.errors[index]
        if errors.poll():
            try:
                text = errors.recv()
            except EOFError:
                text = None
            if text is not None:
                told = f"\n\n-- Process {index} terminated with the following error:\n{text}"
                return ProcessRaisedException(told, index, process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            return ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, code, name
            )
        return ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """The older name of what `spawn` returns."""


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes; waits for them, or with `join=False` returns a ProcessContext."""
    context: Any = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for i in range(nprocs):
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, i, args, sending), daemon=daemon)
        process.start()
        sending.close()  # the process has its own
        processes.append(process)
        errors.append(receiving)
    started = SpawnContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` new processes; see `start_processes`.

    If one raises, the others are terminated, and its traceback is raised here.
    """
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\n"
            "To use a different start_method use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
