"""How are the three rungs of an exercise run?

Rung 1, its own tests; rung 2, the lab sheet; rung 3, the library with the reader's piece in it. Each runs in its own
process group on a copy of the exercise's folder. Rung 1 runs alone, so that its answer comes soon; rungs 2 and 3 run
side by side and are told in order.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from workbook.exercises import manifest
from workbook.exercises.catalogue import Exercise, ExerciseError
from workbook.exercises.child import Job
from workbook.exercises.fault import Fault, plant, read_fault
from workbook.exercises.process import Child, Ended, environment, python, spawn, temporary_folder, uninterrupted
from workbook.exercises.report import (
    BROKEN,
    PASSED,
    REFUSED,
    RUNGS,
    Refusal,
    Report,
    RungResult,
    kind,
    short_path,
)
from workbook.exercises.say import command
from workbook.exercises.state import digest

LIMIT = 20.0  # seconds a rung may take
SHOWN = 5  # lines shown of what the answer printed
WIDE = 200  # characters shown of a line that it printed
LARGE = 1 << 20  # bytes of an answer.py that is taken
CODE = Path(__file__).resolve().parents[2]  # the clone that this machinery belongs to
LEFT = shutil.ignore_patterns("kept", "faulty", "my_lab.ipynb", "answer.py", "__pycache__", ".ipynb_checkpoints")
FRAME = re.compile(r'File "([^"]+)", line (\d+) in (.+)')

Start = Callable[[Job, Mapping[str, str], Path], Child]  # with this environment; the folder is for process groups


def in_new_process(job: Job, settings: Mapping[str, str], groups: Path) -> Child:
    """Start a job in a new Python process."""
    return spawn(python("-m", "workbook.exercises.child", str(job.file("job.json"))), job.work, settings, groups)


def run_check(
    root: Path,
    exercise: Exercise,
    answer: Path | None = None,
    rungs: Sequence[str] = RUNGS,
    limit: float = LIMIT,
    told: Callable[[RungResult], None] = lambda result: None,
    start: Start = in_new_process,
    planted: Path | None = None,
) -> Report:
    """Run these rungs on the reader's answer, or on another file in its place, up to the first that fails.

    `told` is called with each rung's result as soon as it is there, in order, also for the rungs that are not run.
    `start` starts the process of a rung. `planted` is the folder with a library that has the fault already.
    """
    path = answer or exercise.answer
    results: list[RungResult] = []
    fault = read_fault(exercise) if exercise.is_repair else None
    with temporary_folder() as folder:
        if planted is not None:
            (folder / "faulty").symlink_to(planted, target_is_directory=True)
        elif fault is not None:
            plant(fault, folder / "faulty")
        judged = folder / "answer.py"
        refusal = taken(path, judged)
        sha256 = digest(judged)
        running: dict[str, Running] = {}
        try:
            for rung in rungs:
                if results and results[-1].outcome != PASSED:
                    result = RungResult(rung)
                elif refusal is not None:
                    result = RungResult(rung, REFUSED, refusal=refusal)
                else:
                    result = run_rung(root, exercise, judged, rung, rungs, limit, folder, running, start, fault)
                if result.outcome != PASSED:
                    stop(running)
                results.append(result)
                told(result)
        finally:
            stop(running)
    edited = tuple(manifest.edited(root, exercise))
    return Report(exercise.identity, exercise.title, short_path(path, root), tuple(results), edited, sha256)


def run_rung(
    root: Path,
    exercise: Exercise,
    answer: Path,
    rung: str,
    rungs: Sequence[str],
    limit: float,
    folder: Path,
    running: dict[str, Running],
    start: Start,
    fault: Fault | None = None,
) -> RungResult:
    """Run one rung; meanwhile those that may run in parallel are started, too."""
    beside = [rung] if rung == RUNGS[0] else [r for r in rungs if r != RUNGS[0]]
    for name in beside:
        if name not in running:
            with uninterrupted():  # a process that was started is known, and so will be ended
                running[name] = Running(root, exercise, answer, name, limit, folder / name, start, fault)
    return running[rung].result()


def stop(running: dict[str, Running]) -> None:
    """Stop all rungs that are still running."""
    with uninterrupted():
        for one in running.values():
            one.child.kill()


def taken(path: Path, copy: Path) -> Refusal | None:
    """Copy the answer once, so that all rungs judge the same text. Returns a refusal if it cannot be copied."""
    asked = f"a file {path.name}"
    if not os.path.lexists(path):
        return Refusal(asked=asked, came=f"there is no {path.name}", accepted=f"{command('start')} makes it")
    if not path.is_file():
        accepted = f"a file: move away what stands there; {command('start')} then makes it"
        return Refusal(asked=asked, came=f"{path.name} is {kind(path)}", accepted=accepted)
    try:
        if path.stat().st_size > LARGE:
            return Refusal(asked=asked, came=f"{path.name} is larger than a megabyte")
        content = path.read_bytes()
    except OSError as error:
        return Refusal(asked=asked, came=f"{path.name} cannot be read: {error.strerror}")
    copy.write_bytes(content)
    return None


class Running:
    """A rung that runs in a child process."""

    def __init__(
        self,
        root: Path,
        exercise: Exercise,
        answer: Path,
        rung: str,
        limit: float,
        folder: Path,
        start: Start,
        fault: Fault | None = None,
    ) -> None:
        self.rung, self.limit = rung, limit
        pieces = exercise.pieces if fault is None else (fault.piece,)
        self.job = Job(
            rung,
            str(root.resolve()),
            str(folder),
            exercise.check.name,
            tuple(asdict(piece) for piece in pieces),
            exercise.tests if rung == "graft" else (),
            limit,
            time.time() + limit,
            None if fault is None else fault.as_json(),
        )
        for name in ("tmp", "groups"):
            (folder / name).mkdir(parents=True)
        try:
            shutil.copytree(exercise.folder, self.job.work, ignore=LEFT, copy_function=shutil.copyfile)
            self.job.work.chmod(0o700)  # the exercise's own folder may be read-only
            shutil.copyfile(answer, self.job.answer)
        except OSError as error:
            raise ExerciseError(f"{exercise.place} cannot be copied to {folder}\n  {error}") from error
        self.job.write()
        settings = environment(CODE, folder / "tmp", None if fault is None else self.job.library)
        if rung == "lab":
            from workbook.exercises.kernel import kernel_environment

            settings |= kernel_environment(self.job)
        self.child = start(self.job, settings, folder / "groups")

    def result(self) -> RungResult:
        """Wait for the child to end, and read its result."""
        ended = self.child.wait(self.limit)
        result = self._written(ended)
        guard = self.job.file("guard.json")
        if guard.exists() and result.outcome != BROKEN:
            result = replace(result, outcome=REFUSED, refusal=read_refusal(guard))
        return replace(result, seconds=round(ended.seconds, 3), printed=printed(ended, result))

    def _written(self, ended: Ended) -> RungResult:
        """The result that the child wrote, or the refusal if there is none."""
        file = self.job.file("result.json")
        if file.exists():
            return RungResult.from_json(json.loads(file.read_text(encoding="utf-8")))
        asked = "an answer that returns"
        hung = [line for name in ("kernel", "rung") for line in hang_frames(self.job, name)]
        if ended.timed_out or hung:
            line, text = hung[0] if hung else (None, "")
            came = f"it was still running after {self.limit:g} seconds" + (f", in line {line}" if line else "")
            why = "a loop that does not end?" if self.job.begun.exists() else "your answer had not been reached yet."
            because = f"{why} With `--limit SECONDS` it gets more time"
            trace = (text,) if text else ()
            return RungResult(self.rung, REFUSED, refusal=Refusal(asked, "", came, "", because, line, trace))
        if not self.job.begun.exists():
            last = next((line for line in reversed(ended.output.splitlines()) if line.strip()), "it printed nothing")
            came = f"the process {ended.how} before your answer was reached: {last.strip()[:WIDE]}"
            return RungResult(self.rung, BROKEN, refusal=Refusal(came=came))
        came = f"the process {ended.how} without a result"
        because = "sys.exit, os._exit or a crash inside your answer ends it" if self.job.answer.exists() else ""
        return RungResult(self.rung, REFUSED, refusal=Refusal(asked, "", came, "", because))


def read_refusal(path: Path) -> Refusal:
    """The refusal that the guard recorded."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Refusal(**{**data, "trace": tuple(data["trace"])})


def hang_frames(job: Job, name: str) -> list[tuple[int | None, str]]:
    """Where the child was when its time was over: the innermost line of answer.py, if it was there."""
    path = job.file(f"{name}-hang.txt")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    if not text.strip():
        return []
    for file, line, function in FRAME.findall(text):
        if file == str(job.answer):
            source = ""
            with suppress(OSError, UnicodeDecodeError, IndexError):
                source = job.answer.read_text(encoding="utf-8").splitlines()[int(line) - 1].strip()
            return [(int(line), f"line {line}, in {function}: {source}")]
    return [(None, "")]


def printed(ended: Ended, result: RungResult) -> tuple[str, ...]:
    """What the answer printed: the first lines, and how many were left out."""
    lines = [line.rstrip()[:WIDE] for line in ended.output.splitlines()]
    lines = [line for line in lines if line]
    if not lines or result.outcome == BROKEN:
        return tuple(lines[-SHOWN:])
    left = len("\n".join(lines[SHOWN:])) + ended.left_out
    return (*lines[:SHOWN], *([f"... and {amount(left)} more"] if left else []))


def amount(size: int) -> str:
    """A number of bytes in a readable unit.

    >>> amount(12), amount(3_400), amount(56_000_000)
    ('12 bytes', '3.4 kB', '56.0 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
