"""Does each folder's reading order name every file of the folder, and nothing else?"""

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


def missing(folder: Path) -> list[str]:
    """The modules and folders of a folder that its reading order leaves out."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    found = ORDER.search(text)
    named = set(NAME.findall(found[1])) if found else set()
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    folders = {path.name for path in folder.iterdir() if any(path.rglob("*.py"))}
    return sorted((modules | folders) - named)


def test_a_file_that_is_left_out_is_found(tmp_path: Path) -> None:
    order = '"""What?\n\nReading order: `a` (first), then `b.py` and\n`deep/`.\n\nMirrors: `c`\n"""\n'
    (tmp_path / "__init__.py").write_text(order, encoding="utf-8")
    (tmp_path / "deep").mkdir()
    for name in ("a", "b", "c", "deep/__init__"):
        (tmp_path / f"{name}.py").touch()
    assert missing(tmp_path) == ["c"]
    (tmp_path / "__init__.py").write_text('"""What?"""\n', encoding="utf-8")
    assert missing(tmp_path) == ["a", "b", "c", "deep"]
