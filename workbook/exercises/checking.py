"""What does `workbook check` do around the rungs: which exercise, what is shown, what is recorded?"""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from pathlib import Path

from workbook.book.project import shown
from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, ExerciseError, restore
from workbook.exercises.desk import all_done, chosen, known, tell
from workbook.exercises.report import NOT_STARTED, PASSED, TITLES, Around, Report, RungResult, closing, head, rung_text
from workbook.exercises.say import command, count, paint, say, width
from workbook.exercises.state import State
from workbook.progress import is_living

COLOURS = {PASSED: "green", NOT_STARTED: "yellow", "refused": "red", "broken": "red", "not run": "dim"}
EXIT_NOT_STARTED = 3


def check(root: Path, name: str | None, *, answer: Path | None, limit: float, as_json: bool) -> int:
    """Check one exercise, print the result, and record it. Returns the exit code."""
    state = states.load(root)
    exercise = chosen(root, name, state)
    if answer is not None:
        return check_other(root, exercise, answer, limit, as_json=as_json)
    if not os.path.lexists(exercise.answer):
        say(f"{exercise.identity} is not started: there is no {shown(exercise.answer)}")
        say(f"To start it: {command(f'start {exercise.identity}')}")
        tell(state)
        return EXIT_NOT_STARTED
    report = run(root, exercise, None, limit, quiet=as_json)
    state = record(root, exercise, report, state)
    if as_json:
        print(report.to_json())
    elif report.counts:
        all_of_them = known(root, state)
        if all(state.of(one).passed for one in all_of_them):
            all_done(all_of_them)
    tell(state)
    return report.exit_code


def check_other(root: Path, exercise: Exercise, answer: Path, limit: float, *, as_json: bool) -> int:
    """Check an answer in another file. Nothing is recorded."""
    if not answer.is_file():
        raise ExerciseError(f"there is no file {answer}\n  --answer takes a file with an answer to {exercise.identity}")
    report = run(root, exercise, answer.resolve(), limit, quiet=as_json)
    if as_json:
        print(report.to_json())
    return report.exit_code


def run(root: Path, exercise: Exercise, answer: Path | None, limit: float, *, quiet: bool) -> Report:
    """Run the rungs; print each result as soon as it is known."""
    from workbook.exercises.rungs import run_check

    if quiet:
        return run_check(root, exercise, answer, limit=limit)
    columns = width()
    print(head(exercise.identity, exercise.title, shown(answer or exercise.answer), columns))
    print(flush=True)
    waiting("Checking ...")

    def told(result: RungResult) -> None:
        waiting("")
        first, *rest = rung_text(result, columns).split("\n")
        print("\n".join([first.replace(result.outcome, paint(result.outcome, COLOURS[result.outcome])), *rest]))
        sys.stdout.flush()
        waiting("Checking ...")

    try:
        report = run_check(root, exercise, answer, limit=limit, told=told)
    finally:
        waiting("")
    print()
    options = ("--answer", shlex.quote(shown(answer))) if answer is not None else ()
    back = partial(restore, exercise.folder)
    print(closing(report, columns, Around(options, exercise.solution.is_file(), back)))
    return report


def waiting(text: str) -> None:
    """Print a line that the next one overwrites; nothing if the terminal cannot overwrite lines."""
    if is_living(sys.stdout):
        sys.stdout.write(f"\r\x1b[K{text}")
        sys.stdout.flush()


def record(root: Path, exercise: Exercise, report: Report, state: State) -> State:
    """Record the result of the check; an answer that no longer passes reopens the exercise."""
    if report.counts:
        return states.note(root, exercise, states.passed(report.answer_sha256), state)
    if state.of(exercise).answer == report.answer_sha256 and not report.passed:
        return states.note(root, exercise, states.reopened, state)
    return states.note(root, exercise, states.begun, state)


def check_all(root: Path, limit: float) -> int:
    """Check all exercises that were started or have passed, a line for each; those that no longer pass are reopened."""
    state = states.load(root)
    chosen_ones = [exercise for exercise in known(root, state) if state.standing(exercise) != "not started"]
    if not chosen_ones:
        say(f"No exercise is started yet. To start the first one: {command('start')}")
        tell(state)
        return EXIT_NOT_STARTED
    failed = []
    for exercise in chosen_ones:
        waiting(f"{exercise.identity}  checking ...")
        outcome, state = check_quietly(root, exercise, state, limit)
        waiting("")
        say(outcome, f"{exercise.identity}  ", "      ")
        sys.stdout.flush()
        if not state.of(exercise).passed:
            failed.append(exercise)
    print()
    say(f"{len(chosen_ones) - len(failed)} of {count(len(chosen_ones), 'exercise')} passed.")
    if failed:
        say(f"To see what the first of the others lacks: {command(f'check {failed[0].identity}')}")
    else:
        say(f"Go on: {command('next')}")
    tell(state)
    return 1 if failed else 0


def check_quietly(root: Path, exercise: Exercise, state: State, limit: float) -> tuple[str, State]:
    """Check one of many exercises; returns a short result, and the state afterwards."""
    had_passed = bool(state.of(exercise).passed)
    keep = partial(states.note, root, exercise, before=state, worked_on=False)
    if not os.path.lexists(exercise.answer):
        return "its answer.py is gone; open again", keep(states.reopened)
    report = run(root, exercise, None, limit, quiet=True)
    if report.counts:
        return paint("passed", "green"), keep(states.passed(report.answer_sha256))
    rung = report.failed
    words = paint(report.outcome, COLOURS.get(report.outcome, "red"))
    if rung is not None and report.outcome != NOT_STARTED:
        words += f" by {TITLES[rung.rung]}" if rung.outcome == "refused" else f" in {TITLES[rung.rung]}"
    if report.edited:
        words += f"; not counted, edited: {', '.join(report.edited)}"
    if had_passed:
        words += "; it passed before and is open again"
    return words, keep(states.reopened if had_passed else states.begun)
