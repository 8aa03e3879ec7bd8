"""Which pages describe the exercises?

One page an exercise, made from its files: exercise.toml, the stub, the hints, the lab sheet. Solutions are not on the
site. Pure functions: exercises in, Markdown out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import jupytext

from workbook.book.contents import TITLES
from workbook.book.errors import BookError
from workbook.book.project import CHAPTERS, LABS
from workbook.book.render import box, fence, folded
from workbook.exercises.catalogue import FORMS, HARDEST, Exercise, ExerciseError, Piece, exercises

FOLDER = "exercises"
TITLE = re.compile(r"^# (.+)\n*", re.MULTILINE)

BEGIN = r"""## Begin

```text
.venv/bin/workbook start {identity}
```

This copies the task to `{place}/answer.py`, the one file that you write in. Then, as often as you like:

```text
.venv/bin/workbook check {identity}
```

Type this in the folder of your clone. On Windows it is `.venv\Scripts\workbook`, and where `.venv` is active `workbook`
is enough. There is no `.venv` yet? `make study` makes it."""

FAIL = """It also copies the library, with one fault in it, to `{place}/faulty`. See it fail:

```text
.venv/bin/workbook faulty {identity}
```

That runs `symptom.py`; `.venv/bin/workbook faulty {identity} program.py` runs a program of yours. Read the copy, change
it, print from it, stop in it with a debugger: it is yours. (Comparing it with the library of your clone would show the
place at once, and you would have found nothing.)"""

ANSWER = """## Your answer

<div class="exercise" data-exercise="{identity}" markdown="1">

Write it into `{place}/answer.py`. Where `make study` serves this page, you can write and check it here: it is the
same file.

</div>"""

HINTS = """## Hints

Each gives a little more away than the one before. `.venv/bin/workbook hint {identity}` prints them too, one at a
time."""

RUNGS = """## What a check does

It has three rungs. Each is tried when those before it hold.

1. **Its own tests.** `{check}` calls {names}. The first call that fails is shown: what was asked, what
   your answer returned, what was expected, and why.
2. **The lab sheet.** Every cell of it runs on your answer and has to print what stands there.
   [Download the sheet]({lab}){{ .download download="" }}, or play on a copy of your own with
   `.venv/bin/workbook lab {identity}`.
3. **Inside glasstorch.** {replaced} Then the library's own tests run on {pieces}: {tests}. If the library
   itself never calls {pieces}, this rung fails: it would have shown nothing.

When all three hold, `.venv/bin/workbook solution {identity}` shows one way to write it, and `.venv/bin/workbook next`
goes on."""


REPAIR_RUNGS = """## What a check does

First it looks at what you say: is the fault at `LINE` of `FILE`, and does `mended` differ from the function that
stands there by no more than a mend does? A wrong place is refused with what is known of it, not with the right one.
Then come the three rungs, all on the library with the fault, in which `mended` takes the place of that function.

1. **Its own tests.** `{check}` runs programs, with random numbers where that matters. The first that ends otherwise
   than it should is shown.
2. **The lab sheet.** Every cell of it has to print what stands there.
   [Download the sheet]({lab}){{ .download download="" }}, or play on a copy of your own with
   `.venv/bin/workbook lab {identity}`.
3. **Inside glasstorch.** The library's own tests of that area run.

When all three hold, `.venv/bin/workbook solution {identity}` shows our mend and says what the fault was, and
`.venv/bin/workbook next` goes on."""


def all_exercises(root: Path) -> list[Exercise]:
    """The exercises of the project, in order; none if it has no folder of exercises."""
    if not (root / LABS).is_dir():
        return []
    try:
        return exercises(root)
    except ExerciseError as error:
        raise BookError(str(error)) from error


def exercise_pages(root: Path) -> dict[str, str]:
    """The Markdown of each exercise's page, by the page's path in the book."""
    every = all_exercises(root)
    return {page_of(exercise): exercise_page(exercise, every, root) for exercise in every}


def lab_sheets(root: Path) -> dict[str, Path]:
    """The lab sheet of each exercise, by its path in the book."""
    found = {lab_of(exercise): exercise.lab for exercise in all_exercises(root)}
    for lab in found.values():
        if not lab.is_file():
            raise BookError(f"{lab.relative_to(root)}: missing\n  run: python -m workbook.book.notebooks {LABS}")
    return found


def nav_entries(root: Path) -> list[dict[str, list[str]]]:
    """The pages' entries in the navigation: a list for each chapter."""
    return [
        {chapter_title(chapter): [page_of(exercise) for exercise in group]}
        for chapter, group in groupby(all_exercises(root), key=lambda exercise: exercise.chapter)
    ]


def page_of(exercise: Exercise) -> str:
    """The path of an exercise's page in the book."""
    return f"{FOLDER}/{exercise.page}"


def lab_of(exercise: Exercise) -> str:
    """The path of an exercise's lab sheet in the book."""
    return page_of(exercise).removesuffix(".md") + "-lab.ipynb"


def chapter_title(chapter: str) -> str:
    """The title of a chapter in the book: `02-tensor-storage` is "02 Tensor and storage"."""
    number, _, words = chapter.partition("-")
    return f"{number} {TITLES.get(number, words.replace('-', ' ').capitalize())}"


# --- the page of one exercise -------------------------------------------------------------------------------------


def exercise_page(exercise: Exercise, every: Sequence[Exercise], root: Path) -> str:
    """The page of an exercise: the task, how to begin, hints, and what a check does."""
    place = {"identity": exercise.identity, "place": exercise.place}
    parts = [
        f"# {exercise.identity} {exercise.title}",
        facts(exercise, every, root),
        exercise.asks,
        BEGIN.format(**place),
        *([FAIL.format(**place)] if exercise.is_repair else []),
        "## The task",
        task(exercise),
        ANSWER.format(**place),
        HINTS.format(**place),
        *(folded(f"Hint {number}", hint, "hint") for number, hint in enumerate(exercise.hints(), start=1)),
        rungs(exercise),
    ]
    return "\n\n".join(parts) + "\n"


def facts(exercise: Exercise, every: Sequence[Exercise], root: Path) -> str:
    """What kind of exercise it is, how long it takes, and what comes before."""
    rows = [
        ("Form", f"{exercise.form}: {FORMS[exercise.form][0].lower()}{FORMS[exercise.form][1:]}"),
        ("Difficulty", f"{exercise.difficulty} of {HARDEST}"),
        ("Time", f"{exercise.minutes} minutes"),
        ("Read first", section_link(exercise, root)),
    ]
    if exercise.needs:
        before = {other.identity: other for other in every}
        unknown = [need for need in exercise.needs if need not in before]
        if unknown:
            raise BookError(f"{exercise.place}/exercise.toml: needs names {unknown[0]}, which is no exercise")
        rows.append(("Do first", ", ".join(exercise_link(before[need]) for need in exercise.needs)))
    return box("facts titles", "\n\n".join(f"{name}\n:   {value}" for name, value in rows))


def section_link(exercise: Exercise, root: Path) -> str:
    """The section to read before an exercise, with its title."""
    path = root / CHAPTERS / f"{exercise.section}.md"
    title = TITLE.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    if title is None:
        raise BookError(
            f"{exercise.place}/exercise.toml: section = {exercise.section!r}, and there is no such section\n"
            f"  accepted: a file with a title below {CHAPTERS}/, without its ending"
        )
    return f"[{title[1]}](../{exercise.section}.md)"


def exercise_link(exercise: Exercise) -> str:
    """A link to an exercise's page from another page in the same folder."""
    return f"[{exercise.identity} {exercise.title}]({Path(page_of(exercise)).name})"


def task(exercise: Exercise) -> str:
    """The stub, with its text as Markdown and its code as code blocks."""
    stub = jupytext.reads(exercise.start.read_text(encoding="utf-8"), fmt="py:percent")
    parts = []
    for cell in stub.cells:
        if cell.cell_type == "markdown":
            parts.append(TITLE.sub("", cell.source, count=1))
        elif cell.cell_type == "code" and cell.source.strip():
            parts.append(fence(cell.source.strip(), ".python"))
    return "\n\n".join(part.strip() for part in parts)


def rungs(exercise: Exercise) -> str:
    """What each rung of `workbook check` does with this answer."""
    if exercise.is_repair:
        lab = Path(lab_of(exercise)).name
        return REPAIR_RUNGS.format(identity=exercise.identity, check=exercise.check.name, lab=lab)
    return RUNGS.format(
        identity=exercise.identity,
        check=exercise.check.name,
        names=listed([piece.answer for piece in exercise.pieces]),
        lab=Path(lab_of(exercise)).name,
        replaced=replaced(exercise.pieces),
        pieces="it" if len(exercise.pieces) == 1 else "them",
        tests=listed(list(dict.fromkeys(test.partition("::")[0] for test in exercise.tests))),
    )


def listed(names: Sequence[str]) -> str:
    """Names in code type, as a sentence lists them: `a`, `b` and `c`."""
    *before, last = [f"`{name}`" for name in names]
    return f"{', '.join(before)} and {last}" if before else last


def replaced(pieces: Sequence[Piece]) -> str:
    """The parts of the library that the pieces replace: a sentence for all that stand in modules, one for formulas, and
    one for each kernel."""
    said = [
        f"Your `{piece.answer}` is registered as the kernel of `{piece.target}` at the key `{piece.key}`, in the "
        "library's place."
        for piece in pieces
        if piece.kind == "kernel"
    ]
    if formulas := [piece for piece in pieces if piece.kind == "formula"]:
        many = len(formulas) > 1
        said.append(
            f"{taking_the_place(formulas)} the formula{'s' * many} {listed([piece.target for piece in formulas])} in "
            f"`operators/derivatives.yaml`: node and kernel are generated again from {'them' if many else 'it'}, and "
            f"the names of {'their' if many else 'its'} parameters decide what the node saves."
        )
    if inside := [piece for piece in pieces if piece.kind not in ("kernel", "formula")]:
        places = []
        for module, group in groupby(inside, key=module_of):
            kinds = [counterparts(kind, [*some]) for kind, some in groupby(group, key=lambda piece: piece.kind)]
            places.append(f"{' and of '.join(kinds)} in `{module.replace('.', '/')}.py`")
        it = "it" if len(inside) == 1 else "them"
        said.append(f"{taking_the_place(inside)} {' and of '.join(places)}, before another module can import {it}.")
    return " ".join(said)


def taking_the_place(pieces: Sequence[Piece]) -> str:
    """The beginning of the sentence about some pieces."""
    verb = "takes" if len(pieces) == 1 else "take"
    return f"Your {listed([piece.answer for piece in pieces])} {verb} the place of"


def counterparts(kind: str, pieces: Sequence[Piece]) -> str:
    """What some pieces of one kind replace in their module."""
    word = f"the decision{'s' * (len(pieces) > 1)} " if kind == "policy" else ""
    return word + listed([piece.target.partition(":")[2] for piece in pieces])


def module_of(piece: Piece) -> str:
    """The module in which a piece replaces something."""
    return piece.target.partition(":")[0]


# --- the catalogue ------------------------------------------------------------------------------------------------


def exercise_index(root: Path) -> str:
    """All exercises in tables, a table for each chapter."""
    parts = []
    for chapter, group in groupby(all_exercises(root), key=lambda exercise: exercise.chapter):
        rows = [
            f"| {exercise_link(exercise)}<br>{exercise.asks} | {exercise.form}, {exercise.difficulty} of {HARDEST}"
            f"<br>{exercise.minutes} minutes | {section_link(exercise, root)} |"
            for exercise in group
        ]
        parts += [
            f"## {chapter_title(chapter)}",
            "\n".join(["| exercise | form, difficulty | read first |", "|---|---|---|", *rows]),
        ]
    return "\n\n".join(parts)
