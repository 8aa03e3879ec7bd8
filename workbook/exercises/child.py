"""What runs in the child process of a rung?

    python -P -m workbook.exercises.child JOB.json

Puts the guard and the graft in force, runs pytest, writes the result, and ends at once: no thread or handler of the
answer's keeps it alive.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from workbook.exercises.report import BROKEN, NOT_STARTED, REFUSED, Refusal, RungResult

if TYPE_CHECKING:
    from workbook.exercises.graft import Graft
    from workbook.exercises.plugin import Judge

OPTIONS = """\
[pytest]
pythonpath = {paths}
filterwarnings = {warnings}
verbosity_assertions = 2
markers =
    slow: left out
    gpu: left out
"""
NO_TORCH = "PyTorch is out of reach while an exercise is checked; use `import glasstorch as torch`"
TICK = 0.1  # seconds between two looks at the kernel
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Job:
    """What one rung must do, and where."""

    rung: str
    root: str  # of the clone whose exercise it is
    temporary: str  # everything in it is thrown away; the names below are in it
    check: str  # the check file's name
    pieces: tuple[dict[str, str], ...]
    tests: tuple[str, ...]
    limit: float
    until: float  # the time at which it has to be over, in seconds as `time.time` counts
    fault: dict[str, Any] | None = None  # of a repair: the Fault; the library that is imported has it

    @classmethod
    def read(cls, path: Path) -> Self:
        """The job that `write` wrote."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**data, "pieces": tuple(data["pieces"]), "tests": tuple(data["tests"])})

    def write(self) -> None:
        """Write the job to the file from which the child reads it."""
        self.file("job.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    def file(self, name: str) -> Path:
        """A file of the job."""
        return Path(self.temporary) / name

    @property
    def work(self) -> Path:
        """The copy of the exercise's folder, in which the rung runs."""
        return self.file("work")

    @property
    def answer(self) -> Path:
        """The copy of the reader's file."""
        return self.work / "answer.py"

    @property
    def library(self) -> Path:
        """Of a repair: the folder with the library that has the fault, which all rungs share."""
        return Path(self.temporary).parent / "faulty"

    @property
    def begun(self) -> Path:
        """A file that exists once the answer may run: an earlier end of the process is not the answer's fault."""
        return self.file("begun")


def protect(job: Job, stem: str) -> None:
    """Install the guard; when the time limit is reached, record where the process hangs, and end it."""
    from workbook.exercises.guard import Guard, OutOfReach

    hang = job.file(f"{stem}-hang.txt").open("w", encoding="utf-8")
    faulthandler.dump_traceback_later(max(job.until - time.time(), TICK), exit=True, file=hang)
    sys.meta_path.insert(0, OutOfReach("torch", NO_TORCH))
    solutions = Path(job.root) / "exercises" / "solutions"
    Guard(Path(job.temporary), solutions, job.answer, lambda refusal: write_refusal(job, refusal)).install()


def spare_time() -> None:
    """Keep jsonschema from building a grammar of web addresses (0.8 s), which no notebook needs."""
    from workbook.exercises.guard import OutOfReach

    sys.meta_path.insert(0, OutOfReach("rfc3987_syntax", "not needed"))


def write_refusal(job: Job, refusal: Refusal) -> None:
    """Store the first refusal of the guard."""
    path = job.file("guard.json")
    if not path.exists():
        path.write_text(json.dumps(asdict(refusal)), encoding="utf-8")


def options(job: Job) -> list[str]:
    """The arguments of pytest: only ours, none from the reader's environment or the clone's pyproject.toml."""
    root = Path(job.root)
    strict = "error" if job.rung == "graft" else "ignore"
    library = root / "reference" if job.fault is None else job.library
    paths = "\n    ".join(["", str(root), str(library)]) if job.rung == "graft" else ""
    settings = job.file("pytest.ini")
    settings.write_text(OPTIONS.format(paths=paths, warnings=strict), encoding="utf-8")
    common = ["-c", str(settings), "-p", "no:cacheprovider", "-p", "no:faulthandler", "--maxfail=1", "--tb=short"]
    common += [f"--basetemp={job.file('tmp') / 'tests'}", "--import-mode=importlib", "--color=no", "--capture=no"]
    if job.rung == "check":
        return [*common, f"--rootdir={job.work}", "-o", f"python_files={job.check}", str(job.work / job.check)]
    if job.rung == "lab":
        return [
            *common,
            f"--rootdir={job.work}",
            "-p",
            "nbval.plugin",
            "--nbval",
            "--nbval-kernel-name=workbook",
            f"--nbval-cell-timeout={job.limit}",
            f"--nbval-sanitize-with={HERE.parent / 'nbval.cfg'}",
            str(job.work / "lab.ipynb"),
        ]
    return [*common, f"--rootdir={root}", "-m", "not slow and not gpu", *(from_root(root, test) for test in job.tests)]


def from_root(root: Path, argument: str) -> str:
    """An argument of pytest, with an absolute path if it names a file or folder of the clone."""
    return str(root / argument) if (root / argument.partition("::")[0]).exists() else argument


def run(job: Job, graft: Graft | None = None) -> RungResult:
    """Do the job, with this graft if one is in place already. Returns the result."""
    if job.rung == "lab":
        spare_time()
    else:
        protect(job, "rung")
    import pytest

    from workbook.exercises.answer_file import AuthorError, NotStarted, Refused
    from workbook.exercises.catalogue import Piece
    from workbook.exercises.fault import Fault
    from workbook.exercises.fault import judge as judge_repair
    from workbook.exercises.graft import Graft
    from workbook.exercises.plugin import Judge, not_started

    fault = None if job.fault is None else Fault.from_json(job.fault)
    judge = Judge(job.rung, job.answer, job.begun)
    try:
        if graft is None:
            watching = job.rung == "check" and fault is None
            graft = Graft([Piece(**piece) for piece in job.pieces], job.answer, watching=watching)
            if job.rung != "lab":
                graft.install()
        if fault is not None and job.rung == "check":
            judge_repair(fault, job.answer)
            graft.load()
            judge.ask.loaded = graft.complete
        if job.rung == "graft":
            graft.load()
            graft.complete(judge.ask.answer)
    except AuthorError as error:
        return RungResult(job.rung, BROKEN, refusal=Refusal(came=str(error)))
    except NotStarted as error:
        return RungResult(job.rung, NOT_STARTED, refusal=not_started(error))
    except Refused as error:
        return RungResult(job.rung, REFUSED, refusal=error.refusal)
    if job.rung == "lab":
        threading.Thread(target=end_with_kernel, args=(judge,), daemon=True).start()
    code = pytest.main(options(job), plugins=[judge])
    result = judge.result()
    if code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR) and not judge.outcome:
        result = replace(result, outcome=BROKEN, refusal=Refusal(came=f"pytest could not run: exit code {int(code)}"))
    if graft.refusal is not None and result.outcome != BROKEN:
        kept = result.refusal if job.rung == "check" else None  # it knows what was asked
        result = replace(result, outcome=REFUSED, refusal=kept or graft.refusal)
    if job.rung == "graft":
        result = replace(result, replaced=graft.told(), calls=dict(graft.calls))
        result = uncalled(result)
    return result


def end_with_kernel(judge: Judge) -> None:
    """End this process if the kernel of the lab sheet ends while a cell runs: nbval would wait for it."""
    while True:
        time.sleep(TICK)
        kernel = judge.kernel()
        code = None if kernel is None else kernel.poll()
        if code is not None and judge.kernel() is not None:
            if code < 0:
                os.kill(os.getpid(), -code)
            os._exit(code or 1)


def uncalled(result: RungResult) -> RungResult:
    """The result, which is a refusal if a piece was never called."""
    idle = [name for name, count in (result.calls or {}).items() if not count]
    if not idle or result.outcome != "passed":
        return result
    refusal = Refusal(
        asked=f"a {idle[0]} that the library calls",
        came=f"{idle[0]} took the place of its counterpart, but the library never called it",
        because="the library's tests passed without the piece, so they do not show that it works",
    )
    return replace(result, outcome=REFUSED, refusal=refusal)


def finish(job: Job, result: RungResult) -> None:
    """Write the result atomically, so that an incomplete result does not exist."""
    draft = job.file("result.part")
    draft.write_text(json.dumps(result.as_json()), encoding="utf-8")
    draft.replace(job.file("result.json"))


def judge(job: Job, graft: Graft | None = None) -> NoReturn:
    """Run the job, and end the process."""
    try:
        result = run(job, graft)
    except Exception as error:
        if job.begun.exists():
            raise
        from workbook.exercises.answer_file import error_text

        result = RungResult(job.rung, BROKEN, refusal=Refusal(came=f"the rung could not begin: {error_text(error)}"))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (ValueError, OSError, AttributeError):
            continue  # the answer closed it
    finish(job, result)
    os._exit(0)


if __name__ == "__main__":
    judge(Job.read(Path(sys.argv[1])))
