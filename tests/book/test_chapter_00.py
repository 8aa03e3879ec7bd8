"""Does chapter 00 keep to its form, and is every place that it names there?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.book.small_book import ROOT
from workbook.book.house import PACKAGE
from workbook.book.source_map import Place, places

FOLDER = ROOT / "chapters" / "00-start"
SECTIONS = ("how-to-read", "one-addition", "one-backward", "a-classifier", "map-of-the-house", "glossary")
WITH_ALL_PARTS = SECTIONS[1:5]
PARTS = (
    "The question",
    "What the documents say",
    "Predict, then run",
    "In PyTorch's source",
    "Failure lab",
    "If someone asks you",
    "Next",
)
WIDEST, LONGEST = 80, 30  # of a cell: columns and lines
UNWANTED = re.compile(
    r"\b(simply|just|obviously|of course|as we can see|magic|powerful)\b|[\U0001f300-\U0001faff]", re.IGNORECASE
)
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `(?P<path>[^`]+)`, `(?P<symbol>[^`]+)` \|[^|]+\| (?P<here>[^|]+) \|$", re.MULTILINE)
ENTRY = re.compile(
    r"^### (?P<term>[^\n]+)\n\n(?P<text>.+?)\n\n\*PyTorch: (?P<there>.+?)\sHere:\s(?P<here>.+?)\*$",
    re.MULTILINE | re.DOTALL,
)
NAMED = re.compile(r"`([^`]+)`")


class Named(NamedTuple):
    """A place that a section names."""

    section: str
    path: str
    symbol: str


def text_of(section: str) -> str:
    """A section's source."""
    return (FOLDER / f"{section}.md").read_text(encoding="utf-8")


def prose_of(section: str) -> str:
    """What of a section is neither code nor its header."""
    return CELL.sub("", text_of(section).split("---", 2)[2])


def entries() -> list[re.Match[str]]:
    """The entries of the glossary."""
    return list(ENTRY.finditer(text_of("glossary")))


def named_places() -> Iterator[Named]:
    """Every place in PyTorch that a table or the glossary names with its symbol."""
    for section in SECTIONS:
        yield from (Named(section, row["path"], row["symbol"]) for row in ROW.finditer(text_of(section)))
    for entry in entries():
        words = NAMED.findall(entry["there"])
        paths = [word for word in words if "/" in word]
        symbols = [word for word in words if "/" not in word and word not in ("add", entry["term"])]
        yield from (Named("glossary", path, symbol) for path in paths for symbol in symbols)


PLACES = sorted(set(named_places()))
KNOWN: dict[str, list[Place]] = {}
for _place in (place for chapter in places(ROOT).values() for place in chapter):
    KNOWN.setdefault(_place.path, []).append(_place)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_says_how_long_it_takes_and_what_it_needs(section: str) -> None:
    lead = re.search(r"^# .+\n\n\*(.+?)\*\n\n", text_of(section), re.MULTILINE | re.DOTALL)
    assert lead is not None
    assert section == "glossary" or re.match(r"(10|15|20|25) minutes\. Needs: .+ You will ", " ".join(lead[1].split()))


@pytest.mark.parametrize("section", WITH_ALL_PARTS)
def test_a_section_has_its_parts_in_their_order(section: str) -> None:
    headings = re.findall(r"^## (.+)$", text_of(section), re.MULTILINE)
    assert [heading for heading in headings if heading in PARTS] == list(PARTS)


@pytest.mark.parametrize("section", WITH_ALL_PARTS)
def test_a_section_asks_breaks_and_compares(section: str) -> None:
    cells = CELL.findall(text_of(section))
    assert any(":tags: [predict]" in cell for cell in cells)
    assert any("compare_with_torch(" in cell for cell in cells)
    assert len(re.findall(r"^> \[!QUESTION\]-", text_of(section), re.MULTILINE)) >= 3


@pytest.mark.parametrize("section", SECTIONS)
def test_cells_fit_a_page(section: str) -> None:
    for cell in CELL.findall(text_of(section)):
        lines = cell.splitlines()
        assert [line for line in lines if len(line) > WIDEST] == []
        assert len(lines) <= LONGEST + 20 * ("compare_with_torch(" in cell), cell


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_is_told_plainly(section: str) -> None:
    assert UNWANTED.findall(prose_of(section)) == []


@pytest.mark.parametrize("section", WITH_ALL_PARTS)
def test_the_source_tables_say_how_far_ours_is_the_same(section: str) -> None:
    table = text_of(section).partition("## In PyTorch's source")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| where")]
    assert len(rows) >= 3
    for line in rows:
        row = ROW.fullmatch(line)
        assert row is not None, line
        assert re.search(r"\b(same|simplified|omitted)\b", row["here"])


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.section}:{place.path}:{place.symbol}")
def test_a_place_is_in_the_source_map(place: Named) -> None:
    assert place.path in KNOWN


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.section}:{place.path}:{place.symbol}")
def test_a_symbol_stands_where_it_is_said_to(place: Named, require: Callable[[str], Any]) -> None:
    known = KNOWN[place.path]
    if any(place.symbol in entry.symbol for entry in known):
        return  # the source map's own test looks it up
    assert known[0].in_wheel is not None, "only the source map can vouch for a file that is not in the wheel"
    file = Path(require("torch").__file__).parent / known[0].in_wheel
    assert place.symbol in file.read_text(encoding="utf-8")


def test_the_glossary_is_complete_and_in_alphabetical_order() -> None:
    headings = re.findall(r"^### (.+)$", text_of("glossary"), re.MULTILINE)
    assert [entry["term"] for entry in entries()] == headings
    assert headings == sorted(headings)
    assert len(headings) > 40


def test_the_glossary_is_divided_by_letters() -> None:
    for heading, body in re.findall(r"^## (\w to \w)$(.*?)(?=^## |\Z)", text_of("glossary"), re.MULTILINE | re.DOTALL):
        first, last = heading.lower().split(" to ")
        assert all(first <= term[0] <= last for term in re.findall(r"^### (.+)$", body, re.MULTILINE)), heading


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: str(entry["term"]))
def test_a_glossary_entry_names_files_of_the_library(entry: re.Match[str]) -> None:
    named = NAMED.findall(entry["here"])
    assert [name for name in named if not (ROOT / PACKAGE / name).exists()] == []
    assert named or entry["term"] == "layer"
    assert len(entry["text"].split(". ")) <= 3, "one or two sentences, and one more where a word is ours"


def test_every_section_is_linked_to_the_glossary_where_its_words_are_used() -> None:
    anchors = {entry["term"].replace(" ", "-") for entry in entries()}
    linked = {name for section in SECTIONS for name in re.findall(r"glossary\.md#([\w-]+)", text_of(section))}
    assert linked <= anchors
    for section in WITH_ALL_PARTS[:2]:
        assert len(re.findall(r"glossary\.md#", text_of(section))) >= 5
