"""Which places of the source does a page quote, and is what exercises ask for left out?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbook.book.quotes import LONGEST, around, coloured, quoted, script, script_of, statements, with_links
from workbook.book.withheld import Asked, all_asked, library, places

ROOT = Path(__file__).parents[2]
PAGE = "reference/operators/views.html"


def text_of(pieces: list[str | list[str]]) -> str:
    """The text of coloured pieces."""
    return "".join(piece if isinstance(piece, str) else piece[1] for piece in pieces)


def test_links_to_places_are_numbered_and_others_stay_as_they_are() -> None:
    there = '<a href="../api/x.html#glasstorch.x"><code>core/keys.py:3</code></a>'
    other = '<a href="../api/x.html"><code>core/keys.py</code></a>'
    page, found = with_links(f"{there} {other} {there}")
    assert found == ["core/keys.py:3"]
    assert page.count('<a data-quote="0" href="../api/x.html#glasstorch.x"><code>core/keys.py:3</code></a>') == 2
    assert page.endswith("</a>")
    assert other in page


def test_a_place_is_quoted_with_the_whole_definition_around_it_and_decorators() -> None:
    path = library() / "core" / "geometry.py"
    for numbers in statements(path):
        if len(numbers) <= LONGEST:
            assert around(path, numbers.stop) == (numbers, True)
            assert around(path, numbers.start + 1) == (numbers, True)


@pytest.mark.parametrize(
    "asked", [one for one in all_asked(ROOT) if one.file.endswith(".py")], ids=lambda one: one.dotted
)
def test_no_line_of_what_an_exercise_asks_for_is_quoted(asked: Asked) -> None:
    path = library() / asked.file
    lines = path.read_text(encoding="utf-8").splitlines()
    for place in places(path, ROOT):
        hidden = {
            line.strip()
            for line in lines[place.lines.start + 1 : place.lines.stop]
            if len(line.strip()) > 25 and line not in place.outline and lines.count(line) == 1
        }
        for number in (place.lines.start + 1, place.lines.stop):
            _, pieces, exercises = quoted(f"{asked.file}:{number}", "../../exercises", ROOT)
            shown = {line.strip() for line in text_of(pieces).splitlines()}
            assert hidden & shown == set()
            assert exercises or place.asked.marker not in text_of(pieces)


def test_colours_lose_no_character_and_a_script_is_one_call_of_json() -> None:
    text = 'def f(x: int) -> str:\n    """Says."""\n    return f"{x} is" + "</script>"  # a remark\n'
    assert text_of(coloured(text)) == text
    assert ["nf", "f"] in coloured(text)
    told = script(["core/geometry.py:40"], PAGE, ROOT).decode()
    assert told.startswith("GlassQuotes([")
    caption, pieces, asked = json.loads(told.removeprefix("GlassQuotes(").removesuffix(");\n"))[0]
    assert caption.startswith("glasstorch/core/geometry.py, line ")
    assert text_of(pieces).strip()
    assert isinstance(asked, list)
    assert script_of(PAGE) == "assets/quotes/reference-operators-views.js"
