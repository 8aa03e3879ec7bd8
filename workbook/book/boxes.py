"""Which boxes of a page lead to the code that they name?

A box is a place of a figure, a cell of a table, a room of the map of the house, or what the glossary says of a word
after "Here:". A name of a place in the library becomes a link there, which opens the place beside the page (`quotes`);
so does a link to a line wherever it stands. Without a program, all of them lead to the reference. In a notebook there
is no site beside a figure: there its boxes are as they were drawn.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Collection

from workbook.book.places import place_of, symbol_in
from workbook.book.references import reference_of

BREAK = "<wbr>"
CODE = rf"<code>(?:[^<]|{BREAK})+</code>"
BOX = re.compile(
    r'<figure class="figure explorable".*?</figure>|(?P<line><a href="[^"]*/api/[^"]*"><code>[\w/]+\.py:\d+</code></a>)'
    r'|(?P<figure>(?:<div class="figure-scroll"[^>]*>)?<svg\b[^>]*\bclass="glass-figure".*?</svg>)'
    r'|(?P<text><table\b.*?</table>|<div class="house-list".*?</div>)|(?P<note><em>PyTorch: .*?</em>)',
    re.DOTALL,
)
NAMED = re.compile(
    rf'(?P<symbol>{CODE})(?P<rest>,?\s+in\s+(?P<file>{CODE}))|(?P<name>{CODE})'
    rf'|<a href="[^"]*/api/[^"]*">(?P<linked>{CODE})</a>|<a\b.*?</a>',
    re.DOTALL,
)  # fmt: skip
DRAWN = re.compile(
    r'<g data-place="(?P<box>[^"]*)">(?P<inside>.*?)</g>|<a(?=[^>]*? data-place="(?P<link>[^"]*)")', re.DOTALL
)


class Links:
    """The links of one page: the places to which they lead, each once, in the order of their numbers."""

    def __init__(self, address: str, pages: Collection[str]) -> None:
        self.folder = posixpath.dirname(address) or "."
        self.pages = pages
        self.numbers: dict[str, int] = {}

    def to(self, place: str | None) -> str | None:
        """The beginning of a link to a place; None where the book has no page that describes it."""
        page = "" if place is None else reference_of(place)
        if place is None or page.partition("#")[0] not in self.pages:
            return None
        number = self.numbers.setdefault(place, len(self.numbers))
        return f'<a data-quote="{number}" href="{html.escape(posixpath.relpath(page, self.folder))}"'


def with_links(page: str, address: str, pages: Collection[str]) -> tuple[str, list[str]]:
    """A page whose boxes lead to the code that they name, and the places to which they lead.

    `address` is that of the page in the site, `pages` those of the pages that describe the library.
    """
    links = Links(address, pages)

    def linked(found: re.Match[str]) -> str:
        if found["figure"] is not None:
            return in_figure(found["figure"], links)
        if found["note"] is not None:
            before, here, after = found["note"].partition("Here: ")
            return before + here + in_text(after, links)
        text = found["line"] or found["text"]
        return found[0] if text is None else in_text(text, links)

    return BOX.sub(linked, page), list(links.numbers)


def in_text(text: str, links: Links) -> str:
    """A table or a line of text whose names of places are links."""

    def linked(found: re.Match[str]) -> str:
        if found["symbol"] is not None:  # in a file, which needs no link of its own
            begins = links.to(symbol_in(plain(found["file"]), plain(found["symbol"])))
            if begins is None:
                return found["symbol"] + in_text(found["rest"], links)
            return f"{begins}>{found['symbol']}</a>{found['rest']}"
        code = found["name"] or found["linked"]
        place = None if code is None else named_in_text(plain(code), leads=found["linked"] is not None)
        begins = links.to(place)
        return found[0] if begins is None else f"{begins}>{code}</a>"

    return NAMED.sub(linked, text)


def named_in_text(name: str, *, leads: bool) -> str | None:
    """The place that a piece of code means, or None; `leads` says that it is a link to the reference already."""
    if leads:  # by a dotted name it lists what is there
        return None if name.startswith("glasstorch.") else place_of(name)
    return None if name.startswith("__") else place_of(name)  # every folder has an __init__.py


def in_figure(figure: str, links: Links) -> str:
    """A figure whose boxes are links; with links it is several things to be read aloud, and no picture."""

    def linked(found: re.Match[str]) -> str:
        begins = links.to(place_of(html.unescape(found["box"] or found["link"])))
        if begins is None:
            return found[0]
        return begins.partition(" href=")[0] if found["box"] is None else f"{begins}>{found['inside']}</a>"

    drawn = DRAWN.sub(linked, figure)
    if "<a " not in drawn:
        return drawn
    return drawn.replace(' role="img"', ' role="group"', 1).replace(' tabindex="0"', "", 1)


def plain(code: str) -> str:
    """The text of a piece of code."""
    return html.unescape(code.removeprefix("<code>").removesuffix("</code>").replace(BREAK, ""))
