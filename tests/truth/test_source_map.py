"""Does PyTorch's wheel hold every file and symbol that the source map names?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbook.book.errors import BookError
from workbook.book.source_map import CHAPTERS, RELEASE, Place, entry_html, places, source_map_page

ROOT = Path(__file__).parents[2]
PLACES = [place for chapter in places(ROOT).values() for place in chapter]
IN_WHEEL = [place for place in PLACES if place.in_wheel]


@pytest.mark.parametrize("place", IN_WHEEL, ids=lambda place: f"{place.path}:{place.symbol}")
def test_the_wheel_has_the_file_and_the_symbol(require: Callable[[str], Any], place: Place) -> None:
    folder = Path(require("torch").__file__).parent
    path = folder / str(place.in_wheel)
    assert path.is_file()
    assert place.symbol in path.read_text(encoding="utf-8")


def test_a_file_that_is_not_in_the_wheel_says_how_it_was_looked_up() -> None:
    assert {bool(place.in_wheel) for place in PLACES if not place.github_check} == {True}
    assert len(IN_WHEEL) > 150


def test_the_page_has_every_chapter_and_place() -> None:
    page = source_map_page(ROOT)
    assert [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")] == [*CHAPTERS.values()]
    assert len(re.findall("<dt[ >]", page)) == page.count("<dd>") == len(PLACES)


def test_an_anchor_is_given_once() -> None:
    anchors = re.findall('<dt id="([^"]*)"', source_map_page(ROOT))
    assert len(anchors) > 50
    assert len(set(anchors)) == len(anchors)


def test_an_entry_is_safe_html_with_its_names_as_code() -> None:
    html = entry_html(Place("a/b.h", "f<T>", None, "sets grad_fn when a < b"), (), {"a/b.h": {"f<T>": 8}})
    assert f"/{RELEASE}/a/b.h#L8" in html
    assert "<code>a/<wbr>b.h</code>" in html
    assert "f&lt;T&gt;" in html
    assert "only in the repository" in html
    assert "<dd>sets <code>grad_fn</code> when a &lt; b</dd>" in html


@pytest.mark.parametrize(
    "text",
    ["dispatcher: [{path: a, symbol: b}]", "nonsense: []", "dispatcher: [", "dispatcher: [{path: a, colour: red}]"],
)
def test_broken_data_is_refused_with_what_is_expected(tmp_path: Path, text: str) -> None:
    (tmp_path / "tests" / "truth").mkdir(parents=True)
    (tmp_path / "tests" / "truth" / "source_map.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BookError, match=r"source_map\.yaml: .*\n  its chapters are architecture, "):
        places(tmp_path)
