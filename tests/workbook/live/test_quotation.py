"""Does the server quote what an exercise asks for once it has passed, and only then?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import pytest

from workbook.book.places import place_of
from workbook.exercises import state as states
from workbook.exercises.catalogue import find
from workbook.live.quotation import last_change, quotation

ROOT = Path(__file__).resolve().parents[3]
WITHHELD = str(place_of("nn/modules/calling.py Call.run"))
MARKER = "you write this in 07.3"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose exercises nobody has begun."""
    (tmp_path / "mkdocs.yml").touch()
    readers = shutil.ignore_patterns("answer.py", "my_lab.ipynb", "progress.json*", "kept", "faulty", "__pycache__")
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises", ignore=readers)
    return tmp_path


def told(root: Path, place: str) -> tuple[str, list[str]]:
    """The text of a quotation, and the names of the exercises that it leaves something to."""
    status, table = quotation(root, place)
    assert status == HTTPStatus.OK
    caption, pieces, asked = table["quoted"]
    assert caption.startswith(f"glasstorch/{place.partition(':')[0]}")
    return "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces), [name for name, _ in asked]


def test_it_is_an_outline_until_the_exercise_has_passed(clone: Path) -> None:
    exercise = find(clone, "07.3")
    before, asked = told(clone, WITHHELD)
    assert MARKER in before
    assert asked == [f"07.3 {exercise.title}"]
    changes: list[Callable[[states.Record], states.Record]] = [
        lambda record: replace(record, started="2026-01-01"),
        lambda record: replace(record, hints=3),
        lambda record: replace(record, solution="2026-01-01"),
    ]
    for change in changes:
        states.note(clone, exercise, change)
        assert told(clone, WITHHELD) == (before, asked)
    states.note(clone, find(clone, "02.1"), lambda record: replace(record, passed="2026-01-01"))
    assert told(clone, WITHHELD) == (before, asked)
    states.note(clone, exercise, lambda record: replace(record, passed="2026-01-01"))
    after, left = told(clone, WITHHELD)
    assert left == []
    assert MARKER not in after
    assert len(after.splitlines()) > len(before.splitlines())


@pytest.mark.parametrize("change", [1, None])
def test_nothing_is_quoted_of_a_library_that_has_changed(
    clone: Path, monkeypatch: pytest.MonkeyPatch, change: int | None
) -> None:
    assert quotation(clone, WITHHELD)[0] == HTTPStatus.OK
    now = 0 if change is None else last_change() + change
    monkeypatch.setattr("workbook.live.quotation.last_change", lambda: now)
    status, table = quotation(clone, WITHHELD)
    assert status == HTTPStatus.CONFLICT
    assert "Stop its command, and start it again." in str(table)


def test_a_file_that_is_gone_is_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    assert last_change() > 0
    monkeypatch.setattr("workbook.live.quotation.files", lambda: frozenset(["core/keys.py", "core/gone.py"]))
    assert last_change() == 0


@pytest.mark.parametrize(
    "place",
    ["core/nothing.py", "../pyproject.toml", "/etc/passwd", "core/", "core", "glasstorch.core",
     "core/keys.py DispatchKey", "core/keys.py:0", "core/keys.py:100000", "exercises/catalogue.py", ""],
)  # fmt: skip
def test_what_is_no_place_of_the_library_is_not_there(clone: Path, place: str) -> None:
    assert quotation(clone, place)[0] == HTTPStatus.NOT_FOUND
