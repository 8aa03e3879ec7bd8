"""What do `start`, `next`, `hint`, `solution`, `reset` and `faulty` do?"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from workbook.book.project import shown
from workbook.exercises import state as states
from workbook.exercises.catalogue import (
    HARDEST,
    Damaged,
    Exercise,
    ExerciseError,
    UnknownExercise,
    pick,
    read_text,
    survey,
)
from workbook.exercises.order import following, in_order, missing
from workbook.exercises.report import kind
from workbook.exercises.say import command, count, fill, markdown, paint, say
from workbook.exercises.sheet import unanswered
from workbook.exercises.state import State, key

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def tell(state: State) -> None:
    """Print warnings about the file with the reader's progress on standard error."""
    for sentence in state.said:
        print(fill(f"workbook: {sentence}"), file=sys.stderr)


def long(minutes: int) -> str:
    """A planned duration as text.

    >>> long(15), long(80), long(120)
    ('15 min', '1 h 20 min', '2 h')
    """
    hours, rest = divmod(minutes, 60)
    return " ".join([f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0 or not hours))


def title(exercise: Exercise) -> str:
    """The line that names an exercise."""
    first = f"{exercise.identity}  "
    facts = f"{exercise.form}, difficulty {exercise.difficulty} of {HARDEST}, about {long(exercise.minutes)}"
    lines = fill(f"{exercise.title} ({facts})", first, " " * len(first)).splitlines()
    return "\n".join(paint(line, "bold") for line in lines)


def current(all_of_them: Sequence[Exercise], state: State) -> Exercise | None:
    """The current exercise: the last one worked on, or else the first that was started and has not passed."""
    open_ones = [exercise for exercise in all_of_them if state.standing(exercise) in ("started", "changed")]
    last = [exercise for exercise in open_ones if key(exercise) == state.last]
    return next(iter(last or open_ones), None)


def known(root: Path, state: State) -> list[Exercise]:
    """The exercises that can be read; the state records that the others are left out."""
    found, damaged = survey(root)
    leave_out(damaged, state)
    return found


def leave_out(damaged: Sequence[Damaged], state: State) -> None:
    """Record in the state what is wrong with these exercises."""
    for one in damaged:
        first, *_, remedy = str(one.error).splitlines()
        sentence = f"left out: {first}; {remedy.strip()}"
        if sentence not in state.said:
            state.said.append(sentence)


def chosen(root: Path, name: str | None, state: State) -> Exercise:
    """The exercise with this name; without a name, the current one, or else the last one."""
    all_of_them, damaged = survey(root)
    leave_out(damaged, state)
    if name is not None:
        return pick(all_of_them, name, damaged)
    for one in damaged:
        if key(one) == state.last:
            raise one.error
    last = next((exercise for exercise in all_of_them if key(exercise) == state.last), None)
    exercise = current(all_of_them, state) or last
    if exercise is None:
        raise ExerciseError(
            "no exercise is started, and none was named\n"
            f"  to start one: {command('start')}\n  to see them all: {command('progress')}"
        )
    return exercise


def last_one(root: Path, state: State) -> Exercise:
    """The exercise that was worked on last, passed or not."""
    last = next((exercise for exercise in known(root, state) if key(exercise) == state.last), None)
    return last or chosen(root, None, state)


# --- start ---


def start(root: Path, name: str | None, *, watched: bool = False) -> int:
    """Create the reader's own file, and print what to do with it; `watched` says that each save checks it."""
    state = states.load(root)
    all_of_them = known(root, state)
    exercise = chosen(root, name, state) if name is not None else following(root, all_of_them, state)
    if exercise is None:
        tell(state)
        return all_done(all_of_them)
    for path in (exercise.answer, exercise.my_lab):
        refuse_other_than_file(path, f"start {exercise.identity}")
    made = begin(exercise)
    state = states.note(root, exercise, states.begun, state)
    print(title(exercise))
    print()
    if exercise.answer not in made:
        say(f"You started it before: {shown(exercise.answer)} is as you left it.")
    else:
        say(f"Your file: {shown(exercise.answer)}")
    if exercise.my_lab.is_file():
        say(f"Your sheet: {shown(exercise.my_lab)}")
    if exercise.is_repair:
        say(f"The library with the fault: {shown(exercise.faulty)}")
        from workbook.exercises.repair import is_old

        if is_old(exercise):
            say_old(exercise)
    print()
    say(f"Task: {exercise.asks}", hanging="      ")
    if builds_on := missing(exercise, all_of_them, state):
        say(f"It builds on {' and '.join(builds_on)}, which you have not passed yet.")
    print()
    next_steps(root, exercise, watched=watched)
    if watched:
        print()
        say(f"Watching {shown(exercise.answer)}")
    tell(state)
    return 0


def next_steps(root: Path, exercise: Exercise, *, watched: bool) -> None:
    """Print what to do with a started exercise."""
    name = exercise.identity
    names = " and ".join(f"`{piece.answer}`" for piece in exercise.pieces)
    say("What to do next")
    say(f"Read first: {reading(root, exercise)}", "  1. ", "     ")
    if exercise.is_repair:
        see = f"See it fail: {command(f'faulty {name}')} runs {exercise.symptom.name} on the library with the fault."
        say(f"{see} That is a copy: change it, print from it, stop in it.", "  2. ", "     ")
        say(f"When you have found the line, write FILE, LINE and {names} into your file.", "  3. ", "     ")
    else:
        say(f"Open your file in an editor and write {names}.", "  2. ", "     ")
    by_hand = f"{command(f'check {name}')}, as often as you like. {command(f'watch {name}')} checks on each save."
    number = 4 if exercise.is_repair else 3
    say("Save it, as often as you like: each save is checked." if watched else by_hand, f"  {number}. ", "     ")
    say(f"To play with it: {command(f'lab {name}')}. Stuck? {command(f'hint {name}')}")


def reading(root: Path, exercise: Exercise) -> str:
    """Where to read the section of an exercise."""
    path = root / "chapters" / f"{exercise.section}.md"
    return f"{shown(path)} (in the book: {command('read')}; as a notebook: {command(f'lab {shown(path)}')})"


def refuse_other_than_file(path: Path, then: str) -> None:
    """Raise an error if a path is not a file but something else; `then` is the command to run afterwards."""
    if os.path.lexists(path) and not path.is_file():
        raise ExerciseError(f"{shown(path)} is {kind(path)}\n  move it away; {command(then)} then makes the file")


def begin(exercise: Exercise) -> list[Path]:
    """Write those of the reader's files that do not exist yet; returns them."""
    made = []
    if exercise.is_repair:  # first: it takes the most room, and can fail
        from workbook.exercises.repair import make_copy

        made += [exercise.faulty] if make_copy(exercise) else []
    made += [exercise.answer] if copy(exercise.start, exercise.answer) else []
    return made + ([exercise.my_lab] if copy(exercise.lab, exercise.my_lab, unanswered) else [])


def copy(source: Path, target: Path, change: Callable[[bytes], bytes] = bytes) -> bool:
    """Copy a file, changed, to a path that does not exist yet, atomically; returns False if it exists."""
    try:
        content = change(source.read_bytes())
    except OSError:
        content = change(read_text(source).encode())  # says which file is missing, and how to get it back
    try:
        with target.open("xb") as stream:
            try:
                stream.write(content)
            except BaseException:
                target.unlink()
                raise
    except FileExistsError:
        return False
    except OSError as error:
        remedy = f"  the folder {shown(target.parent)} must be writable for you;\n"
        remedy += "  a clone in your home folder is, and so is one that you unpacked yourself"
        if error.errno in NO_ROOM:
            remedy = "  make room on the disk, and try again"
        raise ExerciseError(f"{shown(target)} could not be written: {error.strerror}\n{remedy}") from error
    return True


def faulty(root: Path, name: str | None, program: Path | None, *, mended: bool) -> int:
    """Run a program on the library with the fault of a repair. Returns the program's exit code."""
    state = states.load(root)
    exercise = chosen(root, name, state)
    tell(state)
    if not exercise.is_repair:
        repairs = [other.identity for other in known(root, state) if other.is_repair]
        raise UnknownExercise(
            f"{exercise.identity} is not a repair: its library has no fault\n  repairs: {', '.join(repairs) or 'none'}"
        )
    if mended and not exercise.answer.is_file():
        raise ExerciseError(f"there is no {shown(exercise.answer)}\n  {command(f'start {exercise.identity}')} makes it")
    from workbook.exercises import repair

    if repair.is_old(exercise):
        say_old(exercise)
    return repair.run(exercise, program, mended=mended)


def say_old(exercise: Exercise) -> None:
    """Print that the reader's copy of the library is not of the library as it is now."""
    sentence = f"the library has changed since {shown(exercise.faulty)} was made: its lines are not those that a check"
    again = f"counts. To have it made again, delete that folder, then {command(f'faulty {exercise.identity}')}"
    print(fill(f"workbook: {sentence} {again}"), file=sys.stderr)


# --- next ---


def next_exercise(root: Path) -> int:
    """Print which exercise comes next, what to read for it, and how to begin."""
    state = states.load(root)
    all_of_them = known(root, state)
    exercise = following(root, all_of_them, state)
    if exercise is None:
        tell(state)
        return all_done(all_of_them)
    standing = state.standing(exercise)
    print(title(exercise))
    print()
    say(f"Task: {exercise.asks}", hanging="      ")
    say(f"Read first: {reading(root, exercise)}", hanging="      ")
    if standing == "not started":
        say(f"Then: {command(f'start {exercise.identity}')}", hanging="      ")
    else:
        say(f"You have started it: {shown(exercise.answer)}", hanging="      ")
        say(f"Then: {command(f'check {exercise.identity}')}, or {command(f'watch {exercise.identity}')} to check on "
            f"each save. Stuck? {command(f'hint {exercise.identity}')}", hanging="      ")  # fmt: skip
    ordered = in_order(root, all_of_them)
    left = [e.identity for e in ordered[: ordered.index(exercise)] if not state.of(e).passed]
    if left:
        print()
        say(f"Before it in the order, and not passed: {', '.join(left)}. All of them: {command('progress')}")
    tell(state)
    return 0


def all_done(all_of_them: Sequence[Exercise]) -> int:
    """Print that no exercise is left."""
    if not all_of_them:
        say("There are no exercises in this clone yet.")
        return 0
    say(f"All {len(all_of_them)} exercises have passed. To see that they still do: {command('check --all')}")
    return 0


# --- hint ---


def hint(root: Path, name: str | None, number: int | None, *, everything: bool) -> int:
    """Show the next hint, or the one with this number, or all of them."""
    state = states.load(root)
    exercise = chosen(root, name, state)
    hints = exercise.hints()
    if not hints:
        raise ExerciseError(f"{exercise.identity} has no hints yet")
    if number is not None and not 1 <= number <= len(hints):
        raise UnknownExercise(f"{exercise.identity} has no hint {number}\n  it has hints 1 to {len(hints)}")
    seen = min(state.of(exercise).hints, len(hints))
    first = 1 if everything else number or min(seen + 1, len(hints))
    last = len(hints) if everything else first
    state = states.note(root, exercise, states.hinted(last), state)
    print(title(exercise))
    for place in range(first, last + 1):
        print()
        print(paint(f"Hint {place} of {len(hints)}", "bold"))
        print()
        print(markdown(hints[place - 1]))
    print()
    close_hints(exercise, last, len(hints), again=not everything and number is None and seen == len(hints))
    tell(state)
    return 0


def close_hints(exercise: Exercise, last: int, total: int, *, again: bool) -> None:
    """Print how many hints are left, and what to do."""
    name = exercise.identity
    if not exercise.answer.is_file():
        say(f"You have not started it: {command(f'start {name}')}")
    if last < total:
        left = total - last
        say(f"{count(left, 'hint')} left: {command(f'hint {name}')}. "
            f"When you have something: {command(f'check {name}')}")  # fmt: skip
        return
    say(f"{'You have seen them all: this is' if again else 'This was'} the last one. All again: "
        f"{command(f'hint {name} --all')}. When nothing helps: {command(f'solution {name} --anyway')}")  # fmt: skip


# --- solution ---


def solution(root: Path, name: str | None, *, anyway: bool) -> int:
    """Show our solution if the exercise has passed or the reader insists."""
    state = states.load(root)
    exercise = chosen(root, name, state) if name is not None else last_one(root, state)
    record = state.of(exercise)
    if not (record.passed or anyway):
        left = max(len(exercise.hints()) - record.hints, 0)
        raise ExerciseError(
            f"{exercise.identity} has not passed yet; the solution opens when it has\n"
            f"  {count(left, 'hint')} left: {command(f'hint {exercise.identity}')}\n"
            f"  to see it all the same: {command(f'solution {exercise.identity} --anyway')}"
        )
    text = read_text(exercise.solution)
    state = states.note(root, exercise, states.solved, state)
    from workbook.exercises.compare import compare, without_header

    print(title(exercise))
    print()
    print(paint(f"Ours: {shown(exercise.solution)}", "bold"))
    print()
    print(without_header(text))
    if exercise.is_repair:
        from workbook.exercises.fault import read_fault

        say(f"The fault: {read_fault(exercise).about}")
        print()
    if exercise.answer.is_file():
        with suppress(OSError, UnicodeDecodeError):
            print(markdown(compare(exercise.answer.read_text(encoding="utf-8"), text, exercise.pieces)))
            print()
    say(f"Go on: {command('next')}" if record.passed else
        f"Close it and write yours from memory, then: {command(f'check {exercise.identity}')}")  # fmt: skip
    tell(state)
    return 0


# --- reset ---


def reset(root: Path, name: str | None, *, sheet: bool) -> int:
    """Replace the answer by the stub, or the copy of the lab sheet by the original; a copy of the old file is kept."""
    state = states.load(root)
    exercise = chosen(root, name, state)
    mine, shipped = (exercise.my_lab, exercise.lab) if sheet else (exercise.answer, exercise.start)
    refuse_other_than_file(mine, f"start {exercise.identity}")
    if not mine.exists():
        say(f"There is nothing to reset: {shown(mine)} is not there. To begin: {command(f'start {exercise.identity}')}")
        tell(state)
        return 0
    content = read_text(shipped).encode()
    if sheet:
        content = unanswered(content)
    if mine.read_bytes() == content:
        say(f"There is nothing to reset: {shown(mine)} is as it was at the start.")
        tell(state)
        return 0
    kept = keep(exercise, mine)
    try:
        states.replace_file(mine, content)
    except OSError as error:
        raise ExerciseError(f"{shown(mine)} could not be written: {error.strerror}\n  it is as it was") from error
    print(title(exercise))
    print()
    say(f"{shown(mine)} is as it was at the start.")
    say(f"What you wrote is kept: {shown(kept)}")
    if not sheet:
        had_passed = bool(state.of(exercise).passed)
        state = states.note(root, exercise, states.reopened, state)
        if had_passed:
            say("It counts as open again until the new answer passes.")
    print()
    say(f"Next: write it again, then {command(f'check {exercise.identity}')}")
    tell(state)
    return 0


def keep(exercise: Exercise, mine: Path) -> Path:
    """Copy the reader's file to the first free name in kept/; returns the copy."""
    try:
        exercise.kept.mkdir(exist_ok=True)
    except OSError as error:
        raise ExerciseError(
            f"{shown(exercise.kept)} could not be made: {error.strerror}\n  nothing was reset: a copy is kept first"
        ) from error
    number = 1
    while not copy(mine, kept := exercise.kept / f"{mine.stem}-{number}{mine.suffix}"):
        number += 1
    return kept
