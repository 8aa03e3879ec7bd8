"""Is the glossary of chapter 00 complete, in order and true, and is it used?

What every section has to keep to is in test_sections.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.book.small_book import ROOT
from tests.book.test_sections import GLOSSARY, KNOWN, SECTIONS, Named, stands_where_it_is_said_to, text_of
from workbook.book.house import PACKAGE
from workbook.book.places import place_of

ENTRY = re.compile(
    r"^### (?P<term>[^\n]+)\n\n(?P<text>.+?)\n\n\*PyTorch: (?P<there>.+?)\sHere:\s(?P<here>.+?)"
    r"(?:\sIn\sthe\sdocuments:\s(?P<documents>[^*`]+)\.)?\*$",
    re.MULTILINE | re.DOTALL,
)
NAMED = re.compile(r"`([^`]+)`")


def entries() -> list[re.Match[str]]:
    """The entries of the glossary."""
    return list(ENTRY.finditer(text_of(GLOSSARY)))


def senses(text: str) -> list[str]:
    """The parts of an entry for each sense of its word, which are numbered where there are several."""
    first, *others = re.split(r"\((\d)\)\s", text)
    if not others:
        return [first]
    assert not first.strip(), "what stands before the first number belongs to no sense"
    assert others[::2] == [str(number) for number in range(1, len(others) // 2 + 1)]
    return others[1::2]


def named_places() -> Iterator[Named]:
    """Every place in PyTorch that the glossary names with its symbol."""
    for entry in entries():
        for sense in senses(entry["there"]):
            words = NAMED.findall(sense)
            paths = [word for word in words if "/" in word]
            symbols = [word for word in words if "/" not in word and word not in ("add", entry["term"])]
            yield from (Named("glossary", path, symbol) for path in paths for symbol in symbols)


PLACES = sorted(set(named_places()))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.path}:{place.symbol}")
def test_a_place_of_the_glossary_is_in_the_source_map(place: Named) -> None:
    assert place.path in KNOWN


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.path}:{place.symbol}")
def test_a_symbol_of_the_glossary_stands_where_it_is_said_to(place: Named, require: Callable[[str], Any]) -> None:
    assert stands_where_it_is_said_to(place, require)


def test_the_glossary_is_complete_and_in_alphabetical_order() -> None:
    headings = re.findall(r"^### (.+)$", text_of(GLOSSARY), re.MULTILINE)
    assert [entry["term"] for entry in entries()] == headings
    assert headings == sorted(headings)
    assert len(headings) > 40


def test_the_glossary_is_divided_by_letters() -> None:
    for heading, body in re.findall(r"^## (\w to \w)$(.*?)(?=^## |\Z)", text_of(GLOSSARY), re.MULTILINE | re.DOTALL):
        first, last = heading.lower().split(" to ")
        assert all(first <= term[0] <= last for term in re.findall(r"^### (.+)$", body, re.MULTILINE)), heading


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: str(entry["term"]))
def test_a_glossary_entry_names_files_of_the_library(entry: re.Match[str]) -> None:
    for here in senses(entry["here"]):
        symbols = re.findall(r"`([\w.]+)`\sin\s`([^`]+)`", here)
        assert [name for name, file in symbols if place_of(f"{file} {name}") is None] == []
        named = [name for name in NAMED.findall(here) if name not in dict(symbols)]
        assert [name for name in named if not (ROOT / PACKAGE / name).exists()] == []
        assert named or entry["term"] == "layer"
    for sense in senses(entry["text"]):
        assert len(sense.strip().split(". ")) <= 3, "one or two sentences, and one more where a word is ours"


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: str(entry["term"]))
def test_each_sense_of_a_word_has_its_places(entry: re.Match[str]) -> None:
    assert len(senses(entry["text"])) == len(senses(entry["there"])) == len(senses(entry["here"]))


def test_an_entry_has_the_word_of_the_documents_which_no_other_entry_has() -> None:
    words = [word for entry in entries() for word in " ".join((entry["documents"] or "").split()).split(", ") if word]
    assert len(words) >= 40
    assert [word for word in words if not re.search("[\u4e00-\u9fff]", word)] == []
    assert sorted(words) == sorted(set(words))
    assert text_of(GLOSSARY).count("In the documents:") == sum(entry["documents"] is not None for entry in entries())


def test_words_that_mean_one_thing_in_autograd_or_dispatch_and_another_in_programs_have_two_senses() -> None:
    numbered = {entry["term"]: entry["here"] for entry in entries() if len(senses(entry["text"])) > 1}
    assert {"block", "graph", "node", "trace"} == {term for term, here in numbered.items() if "`jit/" in here}
    assert numbered.keys() == {"block", "graph", "kernel", "node", "trace"}


def test_the_tour_is_linked_to_the_glossary_where_its_words_are_used() -> None:
    linked = [name for section in SECTIONS for name in re.findall(r"glossary\.md#([\w-]+)", text_of(section))]
    assert len(set(linked)) >= 20
    for section in ("00-start/one-addition", "00-start/one-backward"):
        assert len(re.findall(r"glossary\.md#", text_of(section))) >= 5
