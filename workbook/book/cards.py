"""Which words of a page have a card, and what does it say?

A link to a word of the glossary or to an operator has one. Code that names an operator exactly, or a symbol of the
source map, becomes such a link where it stands for the first time on a page. The facts are in the page itself, and
only those of its own words; where no program runs, the links lead to the same facts.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from markdown.extensions.toc import slugify

from workbook.book import operator_pages
from workbook.book.project import CHAPTERS
from workbook.book.prose import with_code
from workbook.book.source_map import anchor_of, names_of

GLOSSARY, SOURCE_MAP = "00-start/glossary.md", "reference/source-map.md"
PROGRAM, STYLE = "assets/cards.js", "assets/cards.css"
# Pages that tell it themselves.
WITHOUT = (
    "reference/api/",
    f"{operator_pages.FOLDER}/",
    *(page.replace(".md", ".html") for page in (GLOSSARY, SOURCE_MAP)),
)
ENTRY = re.compile(
    r"^### (?P<word>.+)\n\n(?P<says>.+(?:\n.+)*)(?:\n\n\*(?P<where>PyTorch: .+(?:\n.+)*)\*$)?", re.MULTILINE
)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
EMPHASIS = re.compile(r"(?<![*\w])\*([^*`]+)\*(?![*\w])")
# What is looked at: a link, or a piece of code. What no link may stand in is found first, and stays as it is.
SEEN = re.compile(
    r'<(?P<closed>pre|svg|h[1-6]|summary|button|label|script)\b.*?</(?P=closed)>|<div class="prediction".*?</div>'
    r'|<a\b[^>]*?\bhref="(?P<link>[^"]*)"[^>]*>.*?</a>|<code>(?P<code>[^<]+)</code>',
    re.DOTALL,
)


class Card(NamedTuple):
    """What is told of a word; code stands in backquotes."""

    title: str
    says: str
    where: str
    page: str  # where it is told at length: an address in the site


def plain(text: str) -> str:
    """A line of Markdown with backquotes as its only markup.

    >>> plain("A [node](#node) of *one*\\nkind")
    'A node of one kind'
    """
    return EMPHASIS.sub(r"\1", LINK.sub(r"\1", " ".join(text.split())))


def at(page: str, anchor: str) -> str:
    """The address in the site of an anchor on a page of the book."""
    return f"{page.removesuffix('.md')}.html#{anchor}"


def words_of(glossary: str) -> dict[str, Card]:
    """The cards of a glossary's words, by the address of the word in the site."""
    found = {}
    for entry in ENTRY.finditer(glossary):
        page = at(GLOSSARY, slugify(entry["word"], "-"))
        found[page] = Card(entry["word"], plain(entry["says"]), plain(entry["where"] or ""), page)
    return found


@lru_cache(maxsize=1)
def operators() -> tuple[dict[str, Card], dict[str, Card]]:
    """The cards of the operators, by the address of their entries and by the names that mean exactly one."""
    entries, names = {}, {}
    for family in operator_pages.entries().values():
        for entry in family:
            page = at(operator_pages.pages_by_name()[entry.name], entry.name)
            first = entry.overloads[0]
            entries[page] = Card(entry.name, entry.says, f"`{first.schema}`", page)
            for name in (f"aten::{entry.name}", *entry.public):
                names[name] = entries[page]
            for one, says in zip(entry.overloads, entry.docs, strict=True):
                names[f"aten::{one.name}"] = Card(one.name, says, f"`{one.schema}`", page)
    return entries, names


def symbols(root: Path) -> dict[str, Card]:
    """The cards of PyTorch's symbols, by name."""
    return {
        name: Card(f"{name} in PyTorch", with_code(place.says), f"`{place.path}`", at(SOURCE_MAP, anchor_of(name)))
        for name, place in names_of(root).items()
    }


class Cards:
    """All cards of a book."""

    def __init__(self, by_address: Mapping[str, Card], by_name: Mapping[str, Card]) -> None:
        self.by_address = by_address
        self.by_name = by_name

    @classmethod
    def of_book(cls, root: Path) -> Cards:
        """The cards of those of the three kinds that a book has."""
        addresses: dict[str, Card] = {}
        names: dict[str, Card] = {}
        glossary, source_map = (root / CHAPTERS / page for page in (GLOSSARY, SOURCE_MAP))
        if source_map.is_file():
            names |= symbols(root)
        if operator_pages.family_pages(root):
            addresses, operators_by_name = operators()
            names |= operators_by_name
        if glossary.is_file():
            addresses = addresses | words_of(glossary.read_text(encoding="utf-8"))
        return cls(addresses, names)

    def on(self, page: str, address: str) -> str:
        """A page's HTML with its cards; `address` is that of the page in the site."""
        if address.startswith(WITHOUT):
            return page
        folder = posixpath.dirname(address)
        told: dict[Card, int] = {}
        named: set[str] = set()

        def marked(found: re.Match[str]) -> str:
            if found["link"] is not None:
                path, sign, anchor = html.unescape(found["link"]).partition("#")
                target = f"{posixpath.normpath(posixpath.join(folder, path))}{sign}{anchor}"
                card = self.by_address.get(target)
                return found[0] if card is None else f'<a data-card="{told.setdefault(card, len(told))}"{found[0][2:]}'
            if found["code"] is None:
                return found[0]
            name = html.unescape(found["code"])
            if name in named or (card := self.by_name.get(name)) is None:
                return found[0]
            named.add(name)
            link = html.escape(posixpath.relpath(card.page, folder or "."))
            return f'<a class="named" data-card="{told.setdefault(card, len(told))}" href="{link}">{found[0]}</a>'

        page = SEEN.sub(marked, page)
        return page if not told else f"{page}\n{facts(list(told))}\n{loading(folder)}"


def facts(cards: list[Card]) -> str:
    """The HTML that holds the facts of a page's cards, in the order of their numbers."""
    text = json.dumps([card[:3] for card in cards], ensure_ascii=False, separators=(",", ":"))
    return f'<script type="application/json" id="cards">{text.replace("<", chr(92) + "u003c")}</script>'


def loading(folder: str) -> str:
    """The HTML that loads what shows them."""
    style, program = (posixpath.relpath(path, folder or ".") for path in (STYLE, PROGRAM))
    return f'<link rel="stylesheet" href="{style}"><script src="{program}" defer></script>'
