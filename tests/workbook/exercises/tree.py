"""How does a test get a small clone with exercises in it?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbook.exercises import say

FACTS = """\
title = "{title}"
asks = "Write {name}."
form = "write"
difficulty = 1
minutes = 15
section = "{chapter}/one-buffer-many-views"
needs = []

[[graft]]
kind = "function"
target = "glasstorch.core.geometry:{name}"
answer = "{name}"

[carries]
tests = ["tests/core/test_geometry.py"]
"""
STUB = '"""What is {name}?"""\n\n\ndef {name}():\n    raise NotImplementedError\n'
HINTS = "# Hints\n\n## Hint 1\n\nLook at `{name}`.\n\n## Hint 2\n\nTwo.\n\n## Hint 3\n\nThree.\n"
SHEET = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def make_clone(root: Path, *places: str) -> Path:
    """A clone in this folder with an exercise at each place, such as `02-tensor-storage/01_strides`."""
    (root / "chapters").mkdir(parents=True, exist_ok=True)
    (root / "exercises").mkdir(exist_ok=True)
    (root / "mkdocs.yml").touch()
    (root / ".git").mkdir(exist_ok=True)
    for place in places:
        make_exercise(root, place)
    return root


def make_exercise(root: Path, place: str, title: str = "") -> Path:
    """All files of an exercise; returns its folder."""
    folder = root / "exercises" / place
    folder.mkdir(parents=True)
    name = folder.name[3:]
    (folder / "exercise.toml").write_text(
        FACTS.format(name=name, chapter=folder.parent.name, title=title or f"About {name}")
    )
    (folder / "start.py").write_text(STUB.format(name=name))
    (folder / f"check_{name}.py").write_text("def test_it(ask): ...\n")
    (folder / "hints.md").write_text(HINTS.format(name=name))
    (folder / "lab.ipynb").write_text(json.dumps(SHEET))
    (folder / "lab.md").write_text("# Lab\n")
    solutions = root / "exercises" / "solutions" / place
    solutions.mkdir(parents=True)
    (solutions / "solution.py").write_text(f"def {name}():\n    return 1\n")
    (solutions / "wrong_two.py").write_text(f"def {name}():\n    return 2\n")
    return folder


def stand_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader stands in this clone, before 100 columns, and runs commands as `workbook`."""
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(say, "program", lambda: "workbook")
