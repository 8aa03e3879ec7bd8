"""Does each folder's reading order name every file of the folder: Python, C++, CUDA C++ and yaml?"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "reference" / "glasstorch"
FOLDERS = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)
ORDER = re.compile(r"Reading order: (.*?)(?:\n\n|\Z)", re.DOTALL)
NAME = re.compile(r"`([\w.]+?)(?:\.py|/)?`")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(PACKAGE).as_posix())
def test_the_reading_order_names_every_file(folder: Path) -> None:
    assert missing(folder) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(PACKAGE).as_posix())
def test_the_reading_order_names_no_file_twice(folder: Path) -> None:
    names = names_in(folder)
    assert sorted(names) == sorted(set(names))


def names_in(folder: Path) -> list[str]:
    """What the reading order of a folder names."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    found = ORDER.search(text)
    return NAME.findall(found[1]) if found else []


def missing(folder: Path) -> list[str]:
    """The files and folders of a folder that its reading order leaves out."""
    named = set(names_in(folder))
    inside = {path.name.removesuffix(".py") for path in folder.iterdir() if path.name != "__pycache__"} - {"__init__"}
    return sorted(name for name in inside - named if not is_beside(folder / name, named))


def is_beside(path: Path, named: set[str]) -> bool:
    """Whether a file is CUDA C++ whose kernels a Python file or folder of that name launches."""
    return path.suffix == ".cu" and path.stem in named


def test_a_file_that_is_left_out_is_found(tmp_path: Path) -> None:
    order = '"""What?\n\nReading order: `a` (first), then `b.py` and\n`deep/`.\n\nMirrors: `c`\n"""\n'
    (tmp_path / "__init__.py").write_text(order, encoding="utf-8")
    (tmp_path / "deep").mkdir()
    for name in ("a.py", "b.py", "c.py", "deep/__init__.py", "a.cu", "e.cu", "e.h", "e.yaml"):
        (tmp_path / name).touch()
    assert missing(tmp_path) == ["c", "e.cu", "e.h", "e.yaml"]
    (tmp_path / "__init__.py").write_text('"""What?"""\n', encoding="utf-8")
    assert missing(tmp_path) == ["a", "a.cu", "b", "c", "deep", "e.cu", "e.h", "e.yaml"]
