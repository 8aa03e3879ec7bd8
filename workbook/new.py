"""How does an author begin a section or an exercise?

`workbook/templates/` holds the form of each: every part, in its order, with what belongs there behind the word WRITE.
What differs between the forms of an exercise is in `forms.toml` there.
What still says so is told by the tests and by `workbook dev check`.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path
from string import Template

from workbook.book.project import CHAPTERS, shown
from workbook.commands import CommandError
from workbook.exercises.catalogue import CHAPTER, FOLDER, FORMS, REPAIR, SOLUTIONS, exercises
from workbook.exercises.form import PAGE
from workbook.exercises.say import command, say

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".template"
IN_SOLUTIONS = ("solution.py", "fault.diff")
PLACE = re.compile(r"(?P<chapter>\d\d-[a-z0-9-]+)/(?P<name>[a-z][a-z0-9_-]*)")


def new_section(root: Path, place: str, title: str) -> int:
    """Write the text of a section. Returns the exit code."""
    chapter, name = parted(root, place)
    path = root / CHAPTERS / chapter / f"{name.replace('_', '-')}.md"
    write({path: filled(TEMPLATES / f"section.md{SUFFIX}", title=title, chapter=chapter)})
    say(f"Made {shown(path)}. What stands behind the word WRITE is yours to write.")
    step(1, f"Put it into the navigation: {CHAPTERS}/{path.parent.name}/{path.name} in mkdocs.yml.")
    step(2, f"Execute it: {command(f'notebooks {shown(path)}')}. See the page: {command('read')}.")
    step(3, "Give it a topic in workbook/book/topics.py, and run the tests in tests/book.")
    return 0


def new_exercise(root: Path, place: str, title: str, form: str, section: str | None) -> int:
    """Write all files of an exercise, under the next number of its chapter. Returns the exit code."""
    if form not in FORMS:
        raise CommandError(f"--form {form} is not known\n  accepted: {', '.join(FORMS)}")
    chapter, name = parted(root, place)
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
        **words(form, name=name, identity=identity),
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
    step(
        1, f"Write {'fault.diff, symptom.py and' if form == REPAIR else 'the stub, the check and'} the solution first."
    )
    step(2, f"Plant wrong answers: {command(f'dev wrong {identity} NAME')}.")
    step(3, f"Build its sheet: {command(f'notebooks {FOLDER}/{folder}')}.")
    step(4, f"See what is left: {command(f'dev check {identity}')}; in the end, {command('dev manifest')}.")
    return 0


def step(number: int, text: str) -> None:
    """Print what comes next, as an item of a list."""
    say(text, f"{number}. ", "   ")


def words(form: str, **names: str) -> dict[str, str]:
    """What the templates of an exercise say in its form; the text of the stub is a comment in it."""
    with (TEMPLATES / "forms.toml").open("rb") as file:
        forms = tomllib.load(file)
    said = {word: Template(text).substitute(names) for word, text in {**forms["write"], **forms.get(form, {})}.items()}
    text = f"WRITE: {said['stub']} At most {PAGE} columns."
    return {**said, "stub": textwrap.fill(text, PAGE, initial_indent="# ", subsequent_indent="# ")}


def parted(root: Path, place: str) -> tuple[str, str]:
    """The chapter and the name of what is to be made."""
    match = PLACE.fullmatch(place)
    if match is None:
        raise CommandError(
            f"{place!r} is not the place of something new\n  accepted: CHAPTER/NAME, for example 04-autograd/hooks"
        )
    if not (root / CHAPTERS / match["chapter"]).is_dir():
        known = sorted(folder.name for folder in (root / CHAPTERS).iterdir() if CHAPTER.fullmatch(folder.name))
        raise CommandError(
            f"there is no chapter {match['chapter']}\n  accepted: {', '.join(known)}; a new chapter begins with its "
            f"folder in {CHAPTERS}/"
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
