"""How do chapters and exercises open in JupyterLab?"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from workbook import commands, copies
from workbook.book.project import CHAPTERS, shown
from workbook.commands import CommandError
from workbook.copies import FOLDER as COPIES
from workbook.exercises.catalogue import FOLDER, Exercise, ExerciseError, UnknownExercise, find

# Our settings for JupyterLab: text that one follows a link to is shown as it reads, and nothing calls out for news. The
# text of a section never opens as a notebook: saving it would rewrite the book's source.
OVERRIDES: dict[str, dict[str, Any]] = {
    "@jupyterlab/docmanager-extension:plugin": {"defaultViewers": {"markdown": "Markdown Preview"}},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
# What `--answer` adds: a Python file that is opened opens as a notebook (jupytext reads it).
PYTHON_AS_NOTEBOOK = {"python": "Jupytext Notebook"}
QUIET = ("--ServerApp.log_level=WARN", "--LabApp.extension_manager=readonly")
FIRST = Path(CHAPTERS) / "00-start"
SHEETS = ("lab.ipynb", "lab.md", "start.py", "answer.py", "my_lab.ipynb")  # opened as the reader's own


def open_lab(name: str | None, *, answer: bool, browser: bool) -> NoReturn:
    """Run JupyterLab on the clone until Ctrl-C, with a chapter, a notebook or an exercise opened."""
    commands.need("book", "jupyterlab", "jupytext")
    root = commands.root()
    target = choose(root, name, answer=answer)
    settings = write_settings(root, python=answer)
    environment = commands.clean_environment()
    search = [str(settings), environment.get("JUPYTER_CONFIG_PATH")]
    environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, search))
    options = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url=/lab/tree/{target.relative_to(root).as_posix()}"]
    if not browser:
        options.append("--no-browser")
    if os.name != "nt" and os.geteuid() == 0:
        options.append("--allow-root")  # in a container one is root; the server answers this machine only
    print("JupyterLab starts in the browser, or at the address below. Ctrl-C twice stops it.")
    commands.finish(["-m", "jupyterlab", *QUIET, *options], environment)


def choose(root: Path, name: str | None, *, answer: bool) -> Path:
    """What to open first: a path in the clone, or the reader's copy of a section, sheet or answer."""
    if name is None:
        if answer:
            from workbook.exercises.say import program

            raise CommandError(f"--answer needs an exercise\n  for example: {program()} lab 02.1 --answer")
        return notebook(root, root / FIRST)
    path = Path(name).resolve()
    if path.is_relative_to(root / COPIES):
        path = notebook(root, path)
    there = path.exists() and path.is_relative_to(root)
    if not there or is_of_an_exercise(root, path):
        try:
            return prepare(find(root, name), answer=answer)
        except UnknownExercise as error:
            if not there and not {"/", os.sep} & set(name):
                section = f"a section is opened by its file, for example {FIRST.as_posix()}"
                raise UnknownExercise(f"{error}\n  {section}") from error
            if not there:
                raise CommandError(
                    f"{name} is not in {root}\n"
                    f"  name a chapter or a notebook of this clone, for example {FIRST.as_posix()}, or an exercise"
                ) from error
    if answer:
        raise CommandError(f"{name} is not an exercise\n  --answer opens an exercise's answer.py as a notebook")
    return notebook(root, path) if path.is_relative_to(root / CHAPTERS) else path


def notebook(root: Path, path: Path) -> Path:
    """The reader's copy of a section or a chapter, made if it does not exist yet; what has none, as it is.

    Where copies cannot be made, it is said, and the book's own notebook is opened.
    """
    from workbook.exercises.say import command, count, say

    try:
        made, older, left = copies.refresh(root)
    except ExerciseError as error:
        print(f"workbook: {error}", file=sys.stderr)
        say("The book's own notebook opens. It shows the outputs of its predictions.")
        own = path.with_suffix(".ipynb")
        return own if own.is_file() else path
    if made:
        say(f"Made {count(len(made), 'notebook')} in {COPIES}/. They are yours to change: git ignores them.")
    for sentence in left:
        say(sentence)
    opened = copies.copy_of(root, path) or path
    for copy in (root / COPIES / f"{section}.ipynb" for section in older):
        if opened in (copy, *copy.parents):
            say(f"The book has changed since you edited {shown(copy)}. To get the section as it is now, rename yours "
                f"and run {command(f'lab {shown(copy)}')}.")  # fmt: skip
    return opened


def is_of_an_exercise(root: Path, path: Path) -> bool:
    """Whether a path is an exercise's folder, or a file in one that the reader has a copy of, or that copy."""
    return (root / FOLDER) in path.parents and (path.is_dir() or path.name in SHEETS)


def prepare(exercise: Exercise, *, answer: bool) -> Path:
    """The reader's sheet or answer, created if it does not exist yet."""
    from workbook.exercises import state as states
    from workbook.exercises.desk import begin, tell
    from workbook.exercises.say import command, say

    root = exercise.folder.parents[2]
    if made := begin(exercise):
        names = " and ".join(shown(path) for path in made)
        say(f"Started {exercise.identity}, {exercise.title}: made {names}.")
    tell(states.note(root, exercise, states.begun))
    say(f"The sheet imports your {shown(exercise.answer)}: edit it in JupyterLab or in your editor, save, and run the "
        f"cells again. Then: {command(f'check {exercise.identity}')}")  # fmt: skip
    return (exercise.answer if answer else exercise.my_lab).resolve()


def write_settings(root: Path, *, python: bool = False) -> Path:
    """The folder with our settings for JupyterLab, which belong to the clone; the reader's settings are unchanged."""
    folder = root / ".cache" / ("jupyter-python" if python else "jupyter")
    overrides = folder / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True, exist_ok=True)
    settings = json.loads(json.dumps(OVERRIDES))
    if python:
        settings["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"] |= PYTHON_AS_NOTEBOOK
    overrides.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    return folder
