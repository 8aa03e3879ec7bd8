"""Is an edited check noticed, and nothing else?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbook.exercises.made import PLACE, make
from workbook.exercises import manifest
from workbook.exercises.catalogue import find


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone with one exercise and its manifest."""
    make(tmp_path)
    assert manifest.write(tmp_path)
    return tmp_path


def edited(root: Path) -> list[str]:
    """What is said to be edited."""
    return manifest.edited(root, find(root, "02.1"))


def test_an_exercise_as_shipped_is_not_edited(root: Path) -> None:
    assert edited(root) == []
    assert not manifest.write(root)


@pytest.mark.parametrize("name", ["check_double.py", "lab.ipynb", "exercise.toml"])
def test_a_file_that_judges_is_said_to_be_edited(root: Path, name: str) -> None:
    path = root / "exercises" / PLACE / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert edited(root) == [f"exercises/{PLACE}/{name}"]


def test_a_missing_file_is_edited(root: Path) -> None:
    (root / "exercises" / PLACE / "lab.ipynb").unlink()
    assert edited(root) == [f"exercises/{PLACE}/lab.ipynb"]


@pytest.mark.parametrize("name", ["hints.md", "start.py", "lab.md"])
def test_a_file_that_judges_nothing_may_be_edited(root: Path, name: str) -> None:
    path = root / "exercises" / PLACE / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert edited(root) == []
    assert manifest.write(root), "the author's manifest has it all the same"


def test_line_ends_do_not_count(root: Path) -> None:
    path = root / "exercises" / PLACE / "check_double.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert edited(root) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_a_damaged_manifest_is_said(root: Path, text: str) -> None:
    (root / "exercises" / "manifest.json").write_text(text, encoding="latin-1")
    assert edited(root) == ["exercises/manifest.json"]


def test_a_manifest_that_is_gone_is_said(root: Path) -> None:
    (root / "exercises" / "manifest.json").unlink()
    assert edited(root) == ["exercises/manifest.json"]


def test_the_manifest_names_every_shipped_file_from_the_top(root: Path) -> None:
    known = json.loads((root / "exercises" / "manifest.json").read_text())
    assert list(known) == sorted(known)
    names = ("check_double.py", "exercise.toml", "hints.md", "lab.ipynb", "lab.md", "start.py")
    assert list(known) == [f"exercises/{PLACE}/{name}" for name in names]
