"""Is an exercise as it was shipped?

`exercises/manifest.json` keeps a hash of every shipped file, so that an edited check is noticed. Line
ends do not count: git may change them.
"""

from __future__ import annotations

import json
from pathlib import Path

from workbook.exercises.catalogue import FOLDER, Exercise, exercises
from workbook.exercises.state import digest

FILE = "manifest.json"


def shipped(exercise: Exercise) -> list[Path]:
    """The shipped files of an exercise."""
    return [
        exercise.facts,
        exercise.start,
        exercise.check,
        exercise.lab_source,
        exercise.lab,
        exercise.hints_file,
        *([exercise.symptom] if exercise.is_repair else []),
    ]


def current(root: Path) -> dict[str, str]:
    """The manifest of the exercises as they are now: path from the clone's top -> sha256."""
    paths = [path for exercise in exercises(root) for path in shipped(exercise)]
    return {name(root, path): digest(path, plain_ends=True) for path in sorted(paths) if path.exists()}


def name(root: Path, path: Path) -> str:
    """A file's name in the manifest."""
    return path.resolve().relative_to(root.resolve()).as_posix()


def text(root: Path) -> str:
    """The text of the manifest for the exercises as they are now."""
    return json.dumps(current(root), indent=1) + "\n"


def write(root: Path) -> bool:
    """Write the manifest. Returns whether it changed."""
    path = root / FOLDER / FILE
    new = text(root)
    if path.exists() and path.read_text(encoding="utf-8") == new:
        return False
    path.write_text(new, encoding="utf-8")
    return True


def edited(root: Path, exercise: Exercise) -> list[str]:
    """The shipped files of an exercise that do not match the manifest; the manifest itself, if damaged or missing.

    Only those that judge an answer are looked at.
    """
    path = root / FOLDER / FILE
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        kept = {str(key): str(value) for key, value in known.items()}
    except (OSError, ValueError, AttributeError):
        return [name(root, path)]
    judges = (exercise.facts, exercise.check, exercise.lab)
    return [name(root, file) for file in judges if kept.get(name(root, file)) != digest(file, plain_ends=True)]
