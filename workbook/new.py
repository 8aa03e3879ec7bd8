"""How does an author begin a section or an exercise?

`workbook/templates/` holds the form of each: every part, in its order, with what belongs there behind the word WRITE.
What still says so is told by the tests and by `workbook dev check`.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from string import Template

from workbook.book.project import CHAPTERS, shown
from workbook.commands import CommandError
from workbook.exercises.catalogue import CHAPTER, FOLDER, FORMS, REPAIR, SOLUTIONS, exercises
from workbook.exercises.say import command, say

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".template"
IN_SOLUTIONS = ("solution.py", "fault.diff")
LINE = 77  # columns of a comment's text in a stub
# What each form but the repair asks its author for, in the words that the templates take.
WORDS = {
    "write": {
        "asks": "one sentence that says what the reader writes.",
        "stub": "the question, what the function is for, and who calls it in the library.",
        "because": "the rule, without the way to it",
        "solution": "the idea of the solution, in one sentence.",
        "nudge": "a nudge: where to look, or a small case to work out on paper.",
    },
    "hunt": {
        "asks": "one sentence that says what the reader looks for, without where it is.",
        "stub": "what the given code is meant to do, and how its user sees that it does not. Put the code into a "
        "constant below, as it is, and say what may be changed in it.",
        "because": "what is so in this case, without the place in the code",
        "solution": "what was wrong at each place, in one sentence; the rest of the given code is unchanged.",
        "nudge": "a nudge: how to see the code go wrong, and the smallest case in which it does.",
    },
    "count": {
        "asks": "one sentence that says what the reader counts.",
        "stub": "what is counted, of which programs, and how the library itself counts it. The function works the "
        "number out and runs nothing.",
        "because": "what the library counted; the check asks it, and has no number of its own",
        "solution": "what the number depends on, in one sentence.",
        "nudge": "a nudge: two programs to count by hand, which differ in one thing.",
    },
    "explain": {
        "asks": "one sentence that says what the reader accounts for.",
        "stub": "what the library did, what is known of it (a trace, a table, a graph), and what the function says "
        "of that.",
        "because": "what is known, and what follows from it, without the way to it",
        "solution": "the reading of what is known, in one sentence.",
        "nudge": "a nudge: one case to explain on paper, from what is known alone.",
    },
}
PLACE = re.compile(r"(?P<chapter>\d\d-[a-z0-9-]+)/(?P<name>[a-z][a-z0-9_-]*)")


def new_section(root: Path, place: str, title: str) -> int:
    """Write the text of a section. Returns the exit code."""
    chapter, name = parted(place, "04-autograd/hooks")
    if not CHAPTER.fullmatch(chapter):
        raise CommandError(f"{chapter!r} is no chapter\n  accepted: for example 04-autograd")
    path = root / CHAPTERS / chapter / f"{name.replace('_', '-')}.md"
    write({path: filled(TEMPLATES / f"section.md{SUFFIX}", title=title, chapter=chapter)})
    say(f"Made {shown(path)}. What stands behind the word WRITE is yours to write.")
    say(f"1. Put it into the navigation: {CHAPTERS}/{path.parent.name}/{path.name} in mkdocs.yml.")
    say(f"2. Execute it: {command(f'notebooks {shown(path)}')}. See the page: {command('read')}.")
    say("3. Give it a topic in workbook/book/topics.py, and run the tests in tests/book.")
    return 0


def new_exercise(root: Path, place: str, title: str, form: str, section: str | None) -> int:
    """Write all files of an exercise, under the next number of its chapter. Returns the exit code."""
    if form not in FORMS:
        raise CommandError(f"--form {form} is not known\n  accepted: {', '.join(FORMS)}")
    chapter, name = parted(place, "04-autograd/hooks")
    name = name.replace("-", "_")
    every = [exercise for exercise in exercises(root) if exercise.chapter == chapter]
    if any(exercise.name == name for exercise in every):
        raise CommandError(f"chapter {chapter} has an exercise {name!r}\n  accepted: another name")
    number = max((int(exercise.folder.name[:2]) for exercise in every), default=0) + 1
    folder, identity = f"{chapter}/{number:02}_{name}", f"{chapter[:2]}.{number}"
    told = {
        "identity": identity,
        "name": name,
        "title": title,
        "form": form,
        **words(form),
        "section": section or f"{chapter}/WRITE: the section that leads to it",
    }
    files = {}
    for template in sorted((TEMPLATES / ("repair" if form == REPAIR else "exercise")).iterdir()):
        file = template.name.removesuffix(SUFFIX)
        top = root / FOLDER / (SOLUTIONS if file in IN_SOLUTIONS else "")
        files[top / folder / (f"check_{name}.py" if file == "check.py" else file)] = filled(template, **told)
    write(files)
    say(f"Made {FOLDER}/{folder} and its solution. What stands behind the word WRITE is yours to write.")
    say(f"Its form is {form}. {FORMS[form]}")
    say(f"1. Write {'fault.diff, symptom.py and' if form == REPAIR else 'the stub, the check and'} the solution first.")
    say(f"2. Plant wrong answers: {command(f'dev wrong {identity} NAME')}.")
    say(f"3. Build its sheet: {command(f'notebooks {FOLDER}/{folder}')}.")
    say(f"4. See what is left: {command(f'dev check {identity}')}; in the end, {command('dev manifest')}.")
    return 0


def words(form: str) -> dict[str, str]:
    """What a form's templates say; the text of the stub is a comment in it."""
    said = WORDS.get(form)
    if said is None:
        return {}
    text = f"WRITE: {said['stub']} At most {LINE + 2} columns."
    return {**said, "stub": textwrap.fill(text, LINE + 2, initial_indent="# ", subsequent_indent="# ")}


def parted(place: str, example: str) -> tuple[str, str]:
    """The chapter and the name of what is to be made."""
    match = PLACE.fullmatch(place)
    if match is None:
        raise CommandError(
            f"{place!r} is not the place of something new\n  accepted: CHAPTER/NAME, for example {example}"
        )
    return match["chapter"], match["name"]


def filled(template: Path, **words: str) -> str:
    """A template with its names filled in. `$$` stands for a dollar sign."""
    return Template(template.read_text(encoding="utf-8")).substitute(words)


def write(files: dict[Path, str]) -> None:
    """Write all these files, or none where one of them is there."""
    if there := [path for path in files if path.exists()]:
        raise CommandError(f"{shown(there[0])} is there already\n  nothing was written; choose another name")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
