"""Which exercises are there, and which one does a name mean?

Standard library only, and little of it: every command of the reader starts here.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

FOLDER = "exercises"
SOLUTIONS = "solutions"
TO_BRING_BACK = "to get it back as it was: "
FACTS = "exercise.toml"
KINDS = ("function", "policy", "kernel", "formula", "cuda")
REPAIR, MENDED = "repair", "mended"  # a form, and what its answer.py calls the mended function
FORMS = {  # each with what the reader does
    "write": "You write a piece of the library from its contract.",
    REPAIR: "The library has one fault. You find it, and mend it.",
    "hunt": "You are given code that is nearly right. You find the places where it goes wrong, and change only those.",
    "count": "You write the function that works out a number which the library can be made to count.",
    "explain": "You write the function that accounts for what the library did.",
}
MINUTES = {1: (10, 20), 2: (15, 45), 3: (25, 60)}  # the fewest and the most that fit each difficulty
HARDEST = 3  # of the difficulties, which begin at 1
KEYS = ("title", "asks", "form", "difficulty", "minutes", "section", "needs", "graft", "carries")
GRAFT_KEYS = ("kind", "target", "answer", "key")
CARRIES_KEYS = ("tests",)

NEAR, OFFERED = 0.6, 3  # names less near are not offered, and no more than so many
BEGINNING = 3  # letters that are enough to be the beginning of a name

CHAPTER = re.compile(r"\d\d-[a-z0-9-]+")
EXERCISE = re.compile(r"\d\d_[a-z0-9_]+")
HINT = re.compile(r"^## Hint \d+[^\n]*\n", re.MULTILINE)


class ExerciseError(Exception):
    """Something is wrong with an exercise. The message says where, what is wrong, and what to do."""


class UnknownExercise(ExerciseError):
    """No exercise, or more than one, has the name that was given."""


@dataclass(frozen=True)
class Piece:
    """One piece of the library that the reader writes, and the name it has in answer.py.

    The target of a repair is what the reader looks for: it is not declared, and read from the fault (fault.py).
    """

    kind: str
    target: str
    answer: str
    key: str = ""


@dataclass(frozen=True)
class Exercise:
    """An exercise on disk: what its exercise.toml declares, and where its files are."""

    identity: str
    name: str
    chapter: str
    folder: Path
    solutions: Path
    title: str
    asks: str
    form: str
    difficulty: int
    minutes: int
    section: str
    needs: tuple[str, ...]
    pieces: tuple[Piece, ...]
    tests: tuple[str, ...]

    @property
    def place(self) -> str:
        """The folder, relative to the clone's top: `exercises/02-tensor-storage/01_strides`."""
        return f"{FOLDER}/{self.chapter}/{self.folder.name}"

    @property
    def page(self) -> str:
        """The file name of its page in the book."""
        return f"{self.identity}-{self.name.replace('_', '-')}.md"

    @property
    def facts(self) -> Path:
        """The file with the declared facts."""
        return self.folder / FACTS

    @property
    def start(self) -> Path:
        """The stub that `workbook start` copies."""
        return self.folder / "start.py"

    @property
    def answer(self) -> Path:
        """The reader's own file."""
        return self.folder / "answer.py"

    @property
    def check(self) -> Path:
        """Rung 1: the exercise's own tests."""
        return self.folder / f"check_{self.name}.py"

    @property
    def lab(self) -> Path:
        """Rung 2: the executed lab sheet."""
        return self.folder / "lab.ipynb"

    @property
    def lab_source(self) -> Path:
        """The text from which the lab sheet is built."""
        return self.folder / "lab.md"

    @property
    def my_lab(self) -> Path:
        """The reader's copy of the lab sheet."""
        return self.folder / "my_lab.ipynb"

    @property
    def hints_file(self) -> Path:
        """The hints, from a nudge to nearly the answer."""
        return self.folder / "hints.md"

    @property
    def is_repair(self) -> bool:
        """Whether the reader mends the library instead of writing a piece of it."""
        return self.form == REPAIR

    @property
    def symptom(self) -> Path:
        """Of a repair: the program that fails."""
        return self.folder / "symptom.py"

    @property
    def faulty(self) -> Path:
        """Of a repair: the folder with the reader's copy of the library that has the fault."""
        return self.folder / "faulty"

    @property
    def fault(self) -> Path:
        """Of a repair: the fault, as the difference that it makes to a file of the library."""
        return self.solutions / "fault.diff"

    @property
    def kept(self) -> Path:
        """The folder in which `workbook reset` keeps what the reader wrote."""
        return self.folder / "kept"

    @property
    def solution(self) -> Path:
        """An answer that passes every rung."""
        return self.solutions / "solution.py"

    def wrong_answers(self) -> list[Path]:
        """The files of the planted wrong answers, each refused by some rung; wrong.py reads them."""
        return sorted(path for path in self.solutions.glob("wrong_*") if path.suffix in (".diff", ".py"))

    def hints(self) -> list[str]:
        """The hints as Markdown, without their headings."""
        return [part.strip() for part in HINT.split(read_text(self.hints_file))[1:]]


@dataclass(frozen=True)
class Damaged:
    """An exercise whose facts cannot be read; only its folder's name is known."""

    folder: Path
    error: ExerciseError

    @property
    def identity(self) -> str:
        """The chapter's number and the exercise's."""
        return identity_of(self.folder)

    @property
    def name(self) -> str:
        """The folder's name without its number."""
        return self.folder.name[3:]

    @property
    def chapter(self) -> str:
        """The folder of the chapter."""
        return self.folder.parent.name

    @property
    def place(self) -> str:
        """The folder, relative to the clone's top."""
        return from_top(self.folder)


Named = TypeVar("Named", Exercise, Damaged)


def exercises(root: Path) -> list[Exercise]:
    """All exercises of the clone, in order. It is an error if one cannot be read."""
    found, damaged = survey(root)
    if damaged:
        raise damaged[0].error
    return found


def survey(root: Path) -> tuple[list[Exercise], list[Damaged]]:
    """The exercises of the clone that can be read, in order, and those that cannot. It is an error if none can."""
    top = root / FOLDER
    if not top.is_dir():
        raise ExerciseError(
            f"there is no folder {FOLDER}/ in {root}\n"
            "  the exercises come with a clone of the repository; run the command inside one"
        )
    found: dict[str, Exercise] = {}
    damaged = []
    for chapter in sorted(path for path in top.iterdir() if CHAPTER.fullmatch(path.name)):
        for folder in sorted(path for path in chapter.iterdir() if EXERCISE.fullmatch(path.name)):
            if not (folder / FACTS).is_file():
                continue  # what a reader wrote may outlive an exercise that was moved
            try:
                exercise = read_exercise(folder)
                if other := found.get(exercise.identity):
                    raise ExerciseError(
                        f"two exercises are {exercise.identity}: {other.place} and {exercise.place}\n"
                        "  give one of the folders another number: an identity is the chapter's and the exercise's"
                    )
            except ExerciseError as error:
                damaged.append(Damaged(folder, error))
            else:
                found[exercise.identity] = exercise
    if damaged and not found:
        raise damaged[0].error
    return list(found.values()), damaged


def identity_of(folder: Path) -> str:
    """The identity that an exercise in this folder has."""
    return f"{folder.parent.name[:2]}.{int(folder.name[:2])}"


def read_text(path: Path) -> str:
    """A shipped file of an exercise as text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ExerciseError(f"{from_top(path)} cannot be read: {reason}\n  {bring_back(path)}") from error


def from_top(path: Path) -> str:
    """The path of an exercise's file, relative to the clone's top folder."""
    _, found, rest = path.as_posix().rpartition(f"/{FOLDER}/")
    return f"{FOLDER}/{rest}" if found else str(path)


def bring_back(path: Path) -> str:
    """How to get a shipped file back as it was."""
    return f"{TO_BRING_BACK}{restore(path, [from_top(path)])}"


def restore(inside: Path, names: Sequence[str]) -> str:
    """How to restore shipped files: with git if this clone uses it, or else from a new copy."""
    if shutil.which("git") and any((folder / ".git").exists() for folder in inside.parents):
        return checkout(names)
    return "take it from a new copy of the repository (this one has no git)"


def checkout(names: Sequence[str]) -> str:
    """The git command that restores files."""
    return f"`git checkout -- {' '.join(names)}`"


# --- exercise.toml ---


class Facts:
    """A table of an exercise.toml that is read key by key; an error names the key and the file."""

    def __init__(self, path: Path, table: Mapping[str, object], known: Sequence[str], where: str = "") -> None:
        self.path, self.table, self.where = path, table, where
        for key in table:
            if key not in known:
                raise self.error(key, "is not a known key", f"known keys: {', '.join(known)}")

    def error(self, key: str, problem: str, accepted: str) -> ExerciseError:
        """The error that names the file and the key."""
        return ExerciseError(
            f"{from_top(self.path)}: {self.where}{key} {problem}\n  {accepted}\n  {bring_back(self.path)}"
        )

    def need(self, key: str, kind: type, accepted: str, default: object = None) -> object:
        """The value of a key, which must have this type and not be empty."""
        if key not in self.table and default is not None:
            return default
        if key not in self.table:
            raise self.error(key, "is missing", f"accepted: {accepted}")
        value = self.table[key]
        if type(value) is not kind or (kind is not list and not value):
            raise self.error(key, f"= {value!r} is not accepted", f"accepted: {accepted}")
        return value

    def text(self, key: str, accepted: str) -> str:
        """A required, non-empty text."""
        return cast("str", self.need(key, str, accepted))

    def texts(self, key: str, accepted: str, *, empty: bool) -> tuple[str, ...]:
        """A list of texts."""
        value = cast("list[object]", self.need(key, list, accepted, [] if empty else None))
        if not all(isinstance(item, str) and item for item in value) or not (value or empty):
            raise self.error(key, f"= {value!r} is not accepted", f"accepted: {accepted}")
        return tuple(map(str, value))

    def number(self, key: str, accepted: str, *, most: float = float("inf")) -> int:
        """A required whole number from 1 to `most`."""
        value = cast("int", self.need(key, int, accepted))
        if not 1 <= value <= most:
            raise self.error(key, f"= {value} is not accepted", f"accepted: {accepted}")
        return value

    def choice(self, key: str, among: Sequence[str]) -> str:
        """A required text that is one of these."""
        accepted = f"one of {', '.join(among)}"
        value = self.text(key, accepted)
        if value not in among:
            raise self.error(key, f"= {value!r} is not accepted", f"accepted: {accepted}")
        return value


def read_exercise(folder: Path) -> Exercise:
    """The exercise in a folder, whose name determines the exercise's name and its position in the order."""
    path = folder / FACTS
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ExerciseError(f"{from_top(path)} is not TOML: {error}\n  {bring_back(path)}") from error
    facts = Facts(path, table, KEYS)
    minutes = facts.number("minutes", "a whole number of minutes above 0, for example 15")
    needs = facts.texts("needs", 'identities of exercises that come before, for example ["02.1"]', empty=True)
    for need in needs:
        if not re.fullmatch(r"\d\d\.\d+", need):
            raise facts.error("needs", f"names {need!r}", 'accepted: identities, for example "02.1"')
    return Exercise(
        identity=identity_of(folder),
        name=folder.name[3:],
        chapter=folder.parent.name,
        folder=folder,
        solutions=folder.parents[1] / SOLUTIONS / folder.parent.name / folder.name,
        title=facts.text("title", "a few words"),
        asks=facts.text("asks", "one sentence that says what the reader writes"),
        form=facts.choice("form", tuple(FORMS)),
        difficulty=facts.number("difficulty", f"1 (easy), 2 or {HARDEST} (hard)", most=HARDEST),
        minutes=minutes,
        section=facts.text("section", 'a section below chapters/, for example "02-tensor-storage/name"'),
        needs=needs,
        pieces=tuple(read_pieces(facts)),
        tests=read_carries(facts),
    )


def read_pieces(facts: Facts) -> Iterable[Piece]:
    """The tables [[graft]] of an exercise.toml; a repair has none."""
    if facts.table.get("form") == REPAIR:
        if "graft" in facts.table:
            raise facts.error("graft", "tells where the fault is", f'accepted: nothing, with form = "{REPAIR}"')
        yield Piece(REPAIR, "", MENDED)
        return
    accepted = f"one or more tables [[graft]] with the keys {', '.join(GRAFT_KEYS)}"
    tables = cast("list[object]", facts.need("graft", list, accepted))
    if not tables:
        raise facts.error("graft", "is empty", f"accepted: {accepted}")
    for number, table in enumerate(tables, 1):
        if not isinstance(table, dict):
            raise facts.error("graft", f"= {table!r} is not accepted", f"accepted: {accepted}")
        graft = Facts(facts.path, table, GRAFT_KEYS, f"[[graft]] {number}: ")
        kind = graft.choice("kind", KINDS)
        answer = graft.text("answer", "the name that the piece has in answer.py")
        if not answer.isidentifier():
            raise graft.error("answer", f"= {answer!r} is not accepted", "accepted: a Python identifier")
        if "key" in table and kind != "kernel":
            raise graft.error("key", f"has no meaning for kind = {kind!r}", "accepted: with kind = 'kernel' only")
        key = graft.text("key", 'a dispatch key, for example "AutogradCPU"') if kind == "kernel" else ""
        yield Piece(kind, graft.text("target", "what the piece replaces in the library"), answer, key)


def read_carries(facts: Facts) -> tuple[str, ...]:
    """The table [carries] of an exercise.toml: pytest's arguments."""
    accepted = "a table [carries] with the key tests"
    table = cast("dict[str, object]", facts.need("carries", dict, accepted))
    carries = Facts(facts.path, table, CARRIES_KEYS, "[carries] ")
    return carries.texts("tests", 'arguments for pytest, for example ["tests/core/test_geometry.py"]', empty=False)


# --- names ---


def find(root: Path, name: str) -> Exercise:
    """The exercise that is meant: by identity, name, folder, or a path to it or into it."""
    found, damaged = survey(root)
    return pick(found, name, damaged)


def pick(among: Sequence[Exercise], name: str, damaged: Sequence[Damaged] = ()) -> Exercise:
    """The exercise with a name. If it is a damaged one, its error is raised."""
    wanted = name.strip().rstrip("/\\")
    matches = named(among, wanted)
    if len(matches) == 1:
        return matches[0]
    if not matches and (meant := named(damaged, wanted)):
        raise meant[0].error
    if matches:
        raise UnknownExercise(
            f"{len(matches)} exercises are called {name!r}\n" + offer(matches, "  name one by its number:")
        )
    raise UnknownExercise(f"there is no exercise {name!r}\n" + nearest(among, wanted))


def named(among: Sequence[Named], wanted: str) -> list[Named]:
    """The exercises with this name, or else those at this path."""
    matches = [exercise for exercise in among if wanted.lower().replace("-", "_") in plain_names(exercise)]
    if matches or not wanted:
        return matches
    path = Path(wanted)
    with suppress(RuntimeError):  # there is no such user
        path = path.expanduser()
    return [exercise for exercise in among if lies_in(path, exercise)]


def plain_names(exercise: Exercise | Damaged) -> set[str]:
    """All names of an exercise, in lower case and with underscores."""
    first, second = exercise.identity.split(".")
    numbers = {f"{a}.{b}" for a in (first, str(int(first))) for b in (second, second.zfill(2))}
    folder = exercise.folder.name
    places = {exercise.name, folder, f"{exercise.chapter}/{folder}", exercise.place}
    return numbers | {place.replace("-", "_") for place in places}


def lies_in(path: Path, exercise: Exercise | Damaged) -> bool:
    """Whether a path, relative to the current folder or to the clone's top, is the exercise's folder or in it."""
    folder = exercise.folder.resolve()
    places = (path.resolve(), (exercise.folder.parents[2] / path).resolve())
    return any(folder == place or folder in place.parents for place in places)


def nearest(among: Sequence[Exercise], wanted: str) -> str:
    """Lines that offer the exercises of the chapter in question, or else those with the most similar names, if any."""
    from workbook.exercises.say import command

    if not among:
        return "  there are no exercises in this clone yet"
    everything = f"  all of them: {command('progress')}"
    number = re.match(r"\d{1,2}(?=$|[.\-_])", wanted)
    words = set(re.findall("[a-z]+", wanted.lower()))
    for chapter in dict.fromkeys(exercise.chapter for exercise in among):
        if int(chapter[:2]) == int(number[0]) if number else words and words <= set(chapter.split("-")):
            of_chapter = [exercise for exercise in among if exercise.chapter == chapter]
            return f"{offer(of_chapter, f'  the exercises of chapter {chapter[:2]} are:')}\n{everything}"
    nearness = {exercise.identity: near(exercise, wanted.lower()) for exercise in among}
    close = [exercise for exercise in among if nearness[exercise.identity] >= NEAR]
    close.sort(key=lambda exercise: -nearness[exercise.identity])
    return f"{offer(close[:OFFERED], '  the nearest are:')}\n{everything}" if close else everything


def near(exercise: Exercise, wanted: str) -> float:
    """How similar a name is to one of an exercise's names, from 0 to 1; the beginning of a name counts as 1."""
    from difflib import SequenceMatcher

    candidates = [*plain_names(exercise), exercise.title.lower()]
    if len(wanted) >= BEGINNING and any(candidate.startswith(wanted) for candidate in candidates):
        return 1.0
    return max(SequenceMatcher(None, wanted, candidate).ratio() for candidate in candidates)


def offer(some: Iterable[Exercise], heading: str) -> str:
    """A heading, and a line for each exercise."""
    return "\n".join([heading, *(f"    {e.identity}  {e.name}  ({e.title})" for e in some)])
