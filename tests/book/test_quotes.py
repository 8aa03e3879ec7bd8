"""Which places of the source does a page quote, and is what exercises ask for left out?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from workbook.book.places import lines_of, place_of
from workbook.book.quotes import LONGEST, around, coloured, outline, quoted, rows, script, script_of, statements
from workbook.book.withheld import Asked, all_asked, library, places

ROOT = Path(__file__).parents[2]
PAGE = "reference/operators/views.html"


def text_of(pieces: list[str | list[str]]) -> str:
    """The text of coloured pieces."""
    return "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces)


def test_a_place_is_quoted_with_the_whole_definition_around_it_and_decorators() -> None:
    path = library() / "core" / "geometry.py"
    for numbers in statements(path):
        if len(numbers) <= LONGEST:
            assert around(path, numbers.stop) == (numbers, True)
            assert around(path, numbers.start + 1) == (numbers, True)


def test_of_a_class_that_is_too_long_the_method_is_quoted() -> None:
    caption, pieces, _ = quoted(str(place_of("nn/modules/module.py Module.register_buffer")), "exercises", ROOT)
    assert "a part" not in caption
    text = text_of(pieces)
    assert text.startswith("def register_buffer(")
    assert text.count("\ndef ") == 0
    assert "\n    " in text


def test_a_row_of_a_table_is_quoted_without_what_stands_around_it() -> None:
    caption, pieces, _ = quoted(str(place_of("operators/derivatives.yaml mul.Tensor")), "exercises", ROOT)
    assert caption.startswith("glasstorch/operators/derivatives.yaml, line ")
    text = text_of(pieces)
    assert text.startswith("- op: mul.Tensor\n")
    assert [line.split(":")[0] for line in text.splitlines()] == ["- op", "  self", "  other", "  result"]
    assert ["k", "op"] in pieces
    assert rows(["# a", "- op: x", "  self: y", "", "# b", "- op: z"]) == (range(1, 3), range(5, 6))


def test_a_short_file_is_quoted_whole_and_of_a_long_one_the_outline_or_the_beginning() -> None:
    caption, pieces, _ = quoted("dispatch/active_keys.py", "exercises", ROOT)
    assert caption == "glasstorch/dispatch/active_keys.py"
    assert text_of(pieces).splitlines() == "".join(lines_of("dispatch/active_keys.py")).splitlines()
    caption, pieces, _ = quoted("core/geometry.py", "exercises", ROOT)
    assert caption == "glasstorch/core/geometry.py, its outline"
    text = text_of(pieces)
    assert text.startswith('"""')
    assert "\ndef broadcast_shapes(" in text
    assert "import " not in text
    caption, pieces, _ = quoted("operators/native_functions.yaml", "exercises", ROOT)
    assert caption == "glasstorch/operators/native_functions.yaml, its beginning"
    assert len(text_of(pieces).splitlines()) <= LONGEST


def test_an_outline_has_what_a_module_says_and_defines_and_no_body() -> None:
    text = '''"""What is it?"""

import math

LIMIT = 3
TABLE = [
    1,
]


@first
def area(x: int,
         y: int) -> int:
    """The area.

    More.
    """
    return x * y


class A:
    """A thing."""

    x: int = 1

    def go(self) -> None:
        print(1)


def _own() -> None:
    pass
'''
    expected = '''"""What is it?"""
LIMIT = 3


@first
def area(x: int,
         y: int) -> int:
    """The area."""
    ...


class A:
    """A thing."""

    def go(self) -> None:
        ...
'''
    assert "".join(outline(text.splitlines(keepends=True))) == expected


@pytest.mark.parametrize("file", sorted({one.file for one in all_asked(ROOT) if one.file.endswith(".py")}))
def test_no_line_of_what_an_exercise_asks_for_is_quoted(file: str) -> None:
    path = library() / file
    lines = path.read_text(encoding="utf-8").splitlines()
    occurrences = Counter(lines)
    for place in places(path, ROOT):
        hidden = {
            line.strip()
            for line in lines[place.lines.start + 1 : place.lines.stop]
            if len(line.strip()) > 25 and line not in place.outline and occurrences[line] == 1
        }
        for quote in (f"{file}:{place.lines.start + 1}", f"{file}:{place.lines.stop}", file):
            _, pieces, exercises = quoted(quote, "../../exercises", ROOT)
            shown = {line.strip() for line in text_of(pieces).splitlines()}
            assert hidden & shown == set()
            assert exercises or place.asked.marker not in text_of(pieces)


@pytest.mark.parametrize("asked", all_asked(ROOT), ids=lambda one: f"{one.exercise.identity} {one.symbol}")
def test_what_an_exercise_asks_for_is_quoted_in_full_once_it_has_passed(asked: Asked) -> None:
    path = library() / asked.file
    place = next(one for one in places(path, ROOT) if one.asked.symbol == asked.symbol)
    number = place.lines.start + 1
    same = {one.asked.exercise.identity for one in places(path, ROOT)}
    _, closed, exercises = quoted(f"{asked.file}:{number}", "exercises", ROOT)
    assert asked.marker in text_of(closed)
    assert any(name.startswith(f"{asked.exercise.identity} ") for name, _ in exercises)
    _, pieces, left = quoted(f"{asked.file}:{number}", "exercises", ROOT, same)
    assert left == []
    assert "you write this in" not in text_of(pieces)
    _, other, still = quoted(f"{asked.file}:{number}", "exercises", ROOT, {"99.9"})
    assert (other, still) == (closed, exercises)


def test_colours_lose_no_character_and_a_script_is_one_call_of_json() -> None:
    text = 'def f(x: int) -> str:\n    """Says."""\n    return f"{x} is" + "</script>"  # a remark\n'
    assert text_of(coloured(text)) == text
    assert ["nf", "f"] in coloured(text)
    told = script(["core/geometry.py:40"], PAGE, ROOT).decode()
    assert told.startswith("GlassQuotes([")
    caption, pieces, asked, place = json.loads(told.removeprefix("GlassQuotes(").removesuffix(");\n"))[0]
    assert place == "core/geometry.py:40"
    assert caption.startswith("glasstorch/core/geometry.py, line ")
    assert text_of(pieces).strip()
    assert isinstance(asked, list)
    assert script_of(PAGE) == "assets/quotes/reference-operators-views.js"
