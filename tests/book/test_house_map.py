"""Is the map of the house complete and true: every room, chapter and file of PyTorch, and does each link hold?"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.architecture.layers import ROWS
from tests.book.small_book import ROOT
from workbook.book.contents import TITLES, first_sections
from workbook.book.figures import house_map
from workbook.book.figures.kit import Figure
from workbook.book.home import house
from workbook.book.house import LAYERS, PACKAGE, Layer, stands
from workbook.book.source_map import RELEASE, REPOSITORY, address_of, places

SVG = "{http://www.w3.org/2000/svg}"
LINK = re.compile(r"\]\(([^)]+)\)")
NOT_TOLD = re.compile(r"(\d\d): (not written yet|a later section)")


def drawing() -> ElementTree.Element:
    return ElementTree.fromstring(house_map.draw(ROOT).svg())


def links() -> list[str]:
    """Where the figure leads."""
    return [link.get("href") or "" for link in drawing().iter(f"{SVG}a")]


def test_the_map_has_the_rooms_that_the_layer_test_knows_in_its_order() -> None:
    below_the_facade = [room.removesuffix(".py") for layer in LAYERS[:-1] for room in layer.rooms]
    assert below_the_facade == [name for row in ROWS for name in row]
    assert [layer.number for layer in LAYERS] == list(range(len(LAYERS)))


def test_every_folder_of_the_library_is_a_room() -> None:
    rooms = [room for layer in LAYERS for room in layer.rooms]
    folders = {path.name for path in (ROOT / PACKAGE).iterdir() if stands(path) and path.is_dir()}
    assert len(rooms) == len(set(rooms))
    assert folders - set(rooms) == set()


def test_the_readme_names_every_folder_that_stands_in_the_order_of_the_layers() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The map of the house")[2]
    tree = text.partition("```\n")[2].partition("```")[0]
    built = [room for layer in LAYERS[:-1] for room in layer.built(ROOT) if not room.endswith(".py")]
    named = re.findall(r"\b(\w+)/(?=[ \n])", tree.partition("reference/glasstorch/")[2].partition("\nworkbook/")[0])
    assert [room for room in named if room in built] == built


def test_every_layer_is_told_in_a_chapter_that_the_book_has_a_title_for() -> None:
    for layer in LAYERS:
        assert layer.chapters == tuple(sorted(layer.chapters))
        assert set(layer.chapters) <= set(TITLES)


def test_every_file_of_pytorch_on_the_map_is_in_the_source_map() -> None:
    known = {place.path for chapter in places(ROOT).values() for place in chapter}
    assert {path for layer in LAYERS for path in layer.there} - known == set()
    assert address_of("c10/core/TensorImpl.h") == f"{REPOSITORY}/{RELEASE}/c10/core/TensorImpl.h"


def test_in_a_clone_every_link_of_the_figure_holds() -> None:
    here = [link for link in links() if not link.startswith("https:")]
    assert [link for link in here if not (ROOT / house_map.FOLDER / link).exists()] == []


def test_what_stands_is_a_link_and_what_does_not_is_none() -> None:
    first = first_sections(ROOT)
    built = [room for layer in LAYERS for room in layer.built(ROOT)]
    told = [chapter for layer in LAYERS if layer.built(ROOT) for chapter in layer.chapters if chapter in first]
    there = [path for layer in LAYERS for path in layer.there]
    assert len(links()) == len(built) + len(told) + len(there)
    said = [text for text in drawing().itertext() if NOT_TOLD.fullmatch(text)]
    assert len(said) == sum(len(layer.chapters) for layer in LAYERS) - len(told)


def test_of_a_chapter_that_has_sections_neither_figure_nor_list_says_that_it_is_not_written() -> None:
    first = first_sections(ROOT)
    for text in ("\n".join(drawing().itertext()), house(ROOT)):
        said = [(found[1], found[2]) for found in NOT_TOLD.finditer(text)]
        assert said
        assert all((number in first) == (what == "a later section") for number, what in said)


def test_each_line_of_the_list_begins_with_the_heading_that_it_has_in_the_figure() -> None:
    heads = [head for head in drawing().itertext() if head.startswith("in ")]
    for layer in house(ROOT).split("\\. ")[1:]:
        assert re.findall(r"^:   \*([^*]+)\* .", layer, re.MULTILINE) == heads
    assert len(heads) == 3


def test_a_link_is_read_aloud_by_what_can_be_seen_of_it() -> None:
    for link in drawing().iter(f"{SVG}a"):
        text = "".join(link.itertext()).strip()
        assert text
        assert text in (link.get("aria-label") or "")


def test_links_are_large_enough_for_a_finger_and_do_not_overlap() -> None:
    areas = []
    for link in drawing().iter(f"{SVG}a"):
        hit = link.find(f"{SVG}rect")
        assert hit is not None
        x, y, width, height = (float(hit.get(name) or 0) for name in ("x", "y", "width", "height"))
        assert min(width, height) >= 24
        areas.append((x, y, x + width, y + height))
    for index, (left, top, right, bottom) in enumerate(areas):
        for other in areas[:index]:
            assert other[2] <= left or right <= other[0] or other[3] <= top or bottom <= other[1]


def test_the_list_leads_where_the_figure_leads() -> None:
    on_the_list = LINK.findall(house(ROOT))
    assert len(on_the_list) == len(links())
    assert [link for link in on_the_list if link.startswith("https:")] == [
        link for link in links() if link.startswith("https:")
    ]


def test_a_layer_of_which_nothing_is_built_is_dashed_and_leads_to_pytorch_only(tmp_path: Path) -> None:
    figure = Figure("small", "t", "d", house_map.RIGHT, 100)
    layer = Layer(6, ("func", "printing.py"), "What?", ("torch/a.py",), ("02", "08"))
    house_map.storey(figure, layer, 0, 64, layer.built(tmp_path), first_sections(ROOT))
    svg = "\n".join(figure.parts)
    assert svg.count("g-dashed") == 3
    assert re.findall(r'href="([^"]*)"', svg) == [address_of("torch/a.py")]
    assert ">02: a later section<" in svg
    assert ">08: not written yet<" in svg


def test_rooms_that_do_not_fit_stand_in_the_next_line() -> None:
    rooms = tuple(f"a_long_name_{n}" for n in range(5))
    assert [name for line in house_map.shelves(rooms) for name in line] == list(rooms)
    assert [len(line) for line in house_map.shelves(rooms)] == [2, 2, 1]
    layer = Layer(0, rooms, "What?", ("torch/a.py",), ("02",))
    assert house_map.height_of(layer) == house_map.height_of(layer._replace(rooms=rooms[:3])) + house_map.SHELF


def test_a_room_that_fits_into_no_line_is_an_error() -> None:
    layer = Layer(0, ("a_very_long_name" * 3,), "What?", ("torch/a.py",), ("02",))
    with pytest.raises(AssertionError, match="layer 0: a_very_long"):
        house_map.storey(Figure("small", "t", "d", 9, 9), layer, 0, 64, (), {})
