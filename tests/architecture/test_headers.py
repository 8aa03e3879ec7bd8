"""Does every file of the library say what it answers and what it mirrors, and where it differs if it does?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "reference" / "glasstorch"
FILES = sorted(PACKAGE.rglob("*.py"))
NO_DIFFERENCE = ("nothing in substance", "nothing that a program can see")


def problems(source: str) -> list[str]:
    """What the header of a file lacks."""
    header = ast.get_docstring(ast.parse(source)) or ""
    lines = header.splitlines()
    found = []
    if not lines or not lines[0].strip():
        found.append("no docstring whose first line is the question it answers")
    mirrors, differs = (
        [line.removeprefix(label).strip() for line in lines if line.startswith(label)]
        for label in ("Mirrors:", "Differs:")
    )
    if len(mirrors) != 1 or not mirrors[0]:
        found.append("not exactly one line 'Mirrors:' that says something")
    if len(differs) > 1 or differs == [""] or any(line.startswith(NO_DIFFERENCE) for line in differs):
        found.append("more than one line 'Differs:', or one that says nothing")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_of_the_library_has_its_header(path: Path) -> None:
    assert problems(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""What?\n\nMirrors: a.h\nDiffers: by this.\n"""', 0),
        ('"""What?\n\nMirrors: a.h\n"""', 0),
        ('"""What?\n\nMirrors:\nDiffers: by this.\n"""', 1),
        ('"""What?\n\nMirrors: a.h\nDiffers:\n"""', 1),
        ('"""What?\n\nMirrors: a.h\nDiffers: nothing in substance.\n"""', 1),
        ('"""What?\n\nMirrors: a.h\nDiffers: nothing that a program can see.\n"""', 1),
        ('"""What?\n\nMirrors: a.h\nDiffers: by this.\nDiffers: by that.\n"""', 1),
        ('"""\nMirrors: a.h\nDiffers: by this.\n"""', 0),
        ("# What?\n", 2),
    ],
)
def test_what_a_header_lacks_is_found(source: str, count: int) -> None:
    assert len(problems(source)) == count
