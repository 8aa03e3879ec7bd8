"""Is answer.py loaded as Python loads it, and is an error in it told from one of the library's?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbook.exercises.answer_file import MODULE, LibraryError, NotStarted, Refused, by_library, load_answer


@pytest.fixture(autouse=True)
def without_answer() -> Iterator[None]:
    """Leave no module `answer` behind."""
    yield
    sys.modules.pop(MODULE, None)


def test_an_answer_that_raises_at_the_top_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text("x = 1\ny = x / 0\n")
    with pytest.raises(Refused) as caught:
        load_answer(path)
    told = caught.value.refusal
    assert (told.came, told.line) == ("ZeroDivisionError: division by zero", 2)
    assert told.trace == ("line 2, at the top: y = x / 0",)
    assert MODULE not in sys.modules


def test_a_stub_at_the_top_is_not_started(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text("raise NotImplementedError\n")
    with pytest.raises(NotStarted):
        load_answer(path)


def test_a_declared_encoding_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_bytes(b"# coding: latin-1\nword = '\xe9'\n")
    assert load_answer(path).word == "\u00e9"


def test_an_indentation_error_shows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "answer.py"
    path.write_text("def f():\n    x = 1\n      y = 2\n")
    with pytest.raises(Refused) as caught:
        load_answer(path)
    told = caught.value.refusal
    assert told.came == "IndentationError: unexpected indent"
    assert told.trace[:2] == ("line 3", "y = 2")


LOADS = """
def bad():
    raise ValueError

exec(compile({source!r}, "glasstorch/late.py", "exec"), {{"__name__": "glasstorch.late", "bad": bad}})
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import glasstorch as torch\ntorch.empty(-1)", Refused),
        ("import glasstorch.no_such", Refused),
        ("import no_such", Refused),
        (LOADS.format(source="bad()"), Refused),
        (LOADS.format(source="1 / 0"), LibraryError),
        (LOADS.format(source="def ("), LibraryError),
    ],
)
def test_only_an_error_while_the_library_is_loaded_is_not_the_answers(
    tmp_path: Path, text: str, expected: type[Exception]
) -> None:
    path = tmp_path / "answer.py"
    path.write_text(text)
    with pytest.raises(expected):
        load_answer(path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("glasstorch", True), ("glasstorch.core", True), ("glasstorches", False), ("tests.core", False), ("", False)],
)
def test_a_module_of_the_library_is_known_by_its_name(name: str, expected: bool) -> None:
    assert by_library(name) is expected
