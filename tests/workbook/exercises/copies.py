"""How does a test get a clone of its own that holds a real exercise?"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from workbook.exercises import manifest
from workbook.exercises.catalogue import Exercise, find

ROOT = Path(__file__).parents[3]
PLACE = "02-tensor-storage/01_strides"
REPAIR = "02-tensor-storage/04_saved_slice"
READERS = shutil.ignore_patterns("answer.py", "my_lab.ipynb", "kept", "faulty", "__pycache__")
CARRIED = "tests/core/test_carried.py"
CARRIED_TEST = """import glasstorch as torch


def test_a_new_tensor_has_row_major_strides() -> None:
    assert torch.zeros(2, 3, 4).stride() == (12, 4, 1)


def test_bytes_are_read_from_where_the_elements_are() -> None:
    assert torch.zeros(3)[1:].view(torch.uint8).storage_offset() == 4
"""


def clone_with_strides(root: Path) -> Exercise:
    """A clone in this folder with exercise 02.1 in it; the library's tests that it carries are one short test."""
    put(root, PLACE)
    section = root / "chapters" / "02-tensor-storage" / "one-buffer-many-views.md"
    section.parent.mkdir(parents=True)
    section.touch()
    (root / "mkdocs.yml").touch()
    (root / ".git").mkdir()
    (root / "ruff.toml").write_text("line-length = 120\n", encoding="utf-8")
    (root / CARRIED).parent.mkdir(parents=True)
    (root / CARRIED).write_text(CARRIED_TEST, encoding="utf-8")
    exercise = find(root, "02.1")
    facts = exercise.facts.read_text(encoding="utf-8")
    lines = [f'tests = ["{CARRIED}"]' if line.startswith("tests = ") else line for line in facts.splitlines()]
    exercise.facts.write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest.write(root)
    return find(root, "02.1")


def put(root: Path, place: str) -> None:
    """Copy an exercise and its solutions to the clone in this folder."""
    for folder in (place, f"solutions/{place}"):
        shutil.copytree(ROOT / "exercises" / folder, root / "exercises" / folder, ignore=READERS)


def clone_with_repair(root: Path) -> Exercise:
    """A clone in this folder with the repair 02.4 in it, and with 02.1, which it needs."""
    clone_with_strides(root)
    put(root, REPAIR)
    (root / "ruff.toml").write_text(
        'line-length = 120\n[lint.isort]\nknown-first-party = ["workbook"]\n', encoding="utf-8"
    )
    exercise = find(root, "02.4")
    facts = exercise.facts.read_text(encoding="utf-8")
    before, _, after = facts.partition("tests = [")
    exercise.facts.write_text(f'{before}tests = ["{CARRIED}"]{after.partition("]")[2]}', encoding="utf-8")
    manifest.write(root)
    return find(root, "02.4")


def only_wrong(exercise: Exercise, *names: str) -> None:
    """Keep these wrong answers of an exercise and remove the others."""
    for path in exercise.wrong_answers():
        if path.stem not in names:
            path.unlink()


def plain_environment(**changes: str) -> dict[str, str]:
    """The environment of a command that a test starts: this Python first, no colour, 100 columns."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "CI")}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return {**kept, "PATH": path, "NO_COLOR": "1", "COLUMNS": "100", **changes}
