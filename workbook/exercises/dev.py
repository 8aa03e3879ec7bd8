"""Which commands check and store exercises for those who write them?

An exercise is well formed (form.py), no assertion of its check is idle (idle.py), and its rungs judge as they should:
the stub is told to be not started, the solution passes every rung, and each wrong answer is refused by the rung that
it names.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from workbook import commands
from workbook.exercises import manifest as shipped
from workbook.exercises.answer_file import AuthorError
from workbook.exercises.catalogue import FOLDER, Exercise, exercises, from_top, pick
from workbook.exercises.fault import plant, read_fault
from workbook.exercises.form import form_problems
from workbook.exercises.idle import Assertion, idle
from workbook.exercises.process import environment, python, temporary_folder
from workbook.exercises.report import NOT_STARTED, PASSED, REFUSED, Report, RungResult, listing
from workbook.exercises.rungs import CODE, LIMIT
from workbook.exercises.state import digest
from workbook.exercises.wrong import refused_by, store, write_out, written_out

WORKERS = 2  # answers judged at the same time
PATIENCE = 15 * LIMIT  # seconds for a rung: a machine that builds and tests may be slow, and busy too
MANIFEST = f"{FOLDER}/{shipped.FILE}"


def check(names: Sequence[str]) -> int:
    """Judge these exercises, or all; prints one line for each, then what must be fixed. Returns the exit code."""
    commands.need("test", "pytest", "nbval", "ruff", "jupytext")
    root = commands.root()
    every = exercises(root)
    chosen = [pick(every, name) for name in names] or every
    bad = 0
    for exercise in chosen:
        began = time.monotonic()
        found = problems(root, exercise, every)
        seconds = time.monotonic() - began
        print(f"{exercise.identity}  {exercise.title:<32} {summary(exercise, found)}  {seconds:.1f} s", flush=True)
        for problem in found:
            print("    " + problem.replace("\n", "\n    "), flush=True)
        bad += bool(found)
    stale = "" if names else stale_manifest(root)
    if stale:
        print(stale)
    print(f"{len(chosen) - bad} of {len(chosen)} exercises are as they should be.")
    return int(bool(bad or stale))


def summary(exercise: Exercise, found: Sequence[str]) -> str:
    """The text about an exercise in its line."""
    if found:
        return f"{len(found)} to fix"
    return f"ok, refuses {len(exercise.wrong_answers())} wrong answers"


def problems(root: Path, exercise: Exercise, every: Sequence[Exercise]) -> list[str]:
    """What must be fixed in one exercise. The rungs only run if its form is right."""
    form = form_problems(root, exercise, every)
    judged = [] if form else [*idle_problems(exercise), *rung_problems(root, exercise)]
    return [*form, *judged, *manifest_problems(root, exercise)]


def idle_problems(exercise: Exercise) -> list[str]:
    """The assertions of its check that catch nothing."""
    try:
        with written_out(exercise) as wrong:
            found = idle_in_repair(exercise, wrong) if exercise.is_repair else list(idle(exercise.check, wrong))
    except AuthorError as error:
        return [str(error)]
    return [
        f"{exercise.check.name}, line {one.line}: `{one.text}` is idle: every wrong answer is refused without it\n"
        "  remove it, or plant the wrong answer that only it refuses"
        for one in found
    ]


def idle_in_repair(exercise: Exercise, wrong: Sequence[Path]) -> list[Assertion]:
    """The same for a repair, whose check needs a process that imports the library with the fault."""
    words = [exercise.folder.parents[2], exercise.identity, *wrong]
    with temporary_folder() as folder:
        plant(read_fault(exercise), folder / "faulty")
        done = subprocess.run(
            python("-m", "workbook.exercises.idle", *map(str, words)), env=environment(CODE, folder, folder / "faulty"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    return [Assertion(**one) for one in json.loads(done.stdout)]


def rung_problems(
    root: Path,
    exercise: Exercise,
    workers: int = WORKERS,
    chosen: Callable[[list[Path]], list[Path]] = list,
) -> list[str]:
    """The cases in which the rungs judge the stub, the solution or a chosen wrong answer incorrectly."""

    with written_out(exercise) as wrong, ThreadPoolExecutor(workers) as pool:
        answers = [exercise.start, exercise.solution, *chosen(wrong)]
        parts = [answers[first::workers] for first in range(workers)]
        judged = pool.map(lambda part: zip(part, reports(root, exercise, part), strict=True), parts)
        problems = {answer: misjudged(answer, report) for part in judged for answer, report in part}
        return [problem for answer in answers if (problem := problems[answer])]


def reports(root: Path, exercise: Exercise, answers: Sequence[Path]) -> list[Report]:
    """How these answers are judged, by a process that warm.py describes."""
    words = [root.resolve(), exercise.identity, PATIENCE, *answers]
    with temporary_folder() as folder:
        library = folder / "faulty" if exercise.is_repair else None
        if library is not None:
            plant(read_fault(exercise), library)
        done = subprocess.run(
            python("-m", "workbook.exercises.warm", *map(str, words)),
            env=environment(CODE, folder, library),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    return [Report.from_json(text) for text in json.loads(done.stdout)]


def misjudged(answer: Path, report: Report) -> str:
    """What is wrong with the judgement of an answer, if anything is."""
    if answer.name == "start.py":
        wanted = f"{NOT_STARTED} by check"
    elif answer.name == "solution.py":
        wanted = PASSED
    else:
        wanted = f"{REFUSED} by {refused_by(answer)}"
    failed = report.failed
    came = PASSED if failed is None else f"{failed.outcome} by {failed.rung}"
    if came == wanted:
        return ""
    return f"{answer.name}: {came}, and should be {wanted}{details(failed)}"


def details(failed: RungResult | None) -> str:
    """The output of the rung, indented."""
    if failed is None or failed.refusal is None:
        return ""
    return "".join(f"\n  {label}: {text}" for label, text in failed.refusal.rows())


def wrong_answers(name: str, answer: str | None) -> int:
    """Write out one wrong answer for editing, or store all of an exercise as differences. Returns the exit code."""
    exercise = pick(exercises(commands.root()), name)
    if answer is not None:
        print(f"{from_top(write_out(exercise, answer))} is the whole answer: edit it.")
        print(f"Then `workbook dev wrong {exercise.identity}` stores it as its difference from the solution.")
        return 0
    changed, problems = store(exercise)
    for path in changed:
        print(f"{from_top(path)} was written.")
    for problem in problems:
        print(problem)
    kept = len(exercise.wrong_answers()) - len(changed) - len(problems)
    print(f"{kept} of {len(exercise.wrong_answers())} wrong answers are unchanged.")
    return int(bool(problems))


def manifest_problems(root: Path, exercise: Exercise) -> list[str]:
    """The shipped files whose hash in the manifest is missing or out of date."""
    try:
        known = dict(json.loads((root / FOLDER / shipped.FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        known = {}
    changed = [
        file
        for file in shipped.shipped(exercise)
        if known.get(shipped.name(root, file)) != digest(file, plain_ends=True)
    ]
    if not changed:
        return []
    names = listing([file.name for file in changed])
    return [f"{names}: {MANIFEST} has another hash; when the exercise is done, run `workbook dev manifest`"]


def manifest(*, check: bool) -> int:
    """Write exercises/manifest.json, or with `check` report whether it is up to date. Returns the exit code."""
    root = commands.root()
    if check:
        stale = stale_manifest(root)
        print(stale or f"{MANIFEST} is up to date.")
        return int(bool(stale))
    changed = shipped.write(root)
    print(f"{MANIFEST} was written." if changed else f"{MANIFEST} is unchanged.")
    return 0


def stale_manifest(root: Path) -> str:
    """Why the manifest does not match the exercises; nothing if it does."""
    path = root / FOLDER / shipped.FILE
    if path.is_file() and path.read_text(encoding="utf-8") == shipped.text(root):
        return ""
    return f"{MANIFEST} {'is out of date' if path.is_file() else 'is missing'}: run `workbook dev manifest`"
