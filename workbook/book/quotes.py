"""Which places of the library's source does a page name, and what stands there?

A link to a place, `kernels/views.py:40`, opens the definition there in a pane at the side of the page. The quotations
of a page are a script of their own, which is loaded when the first of them is opened. What an exercise asks for is an
outline in them, as everywhere. Without a program, the links lead to the reference.
"""

from __future__ import annotations

import ast
import html
import json
import posixpath
import re
import textwrap
from functools import lru_cache
from pathlib import Path
from typing import Any

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from workbook.book.withheld import asked_in, excerpt, library

PROGRAM, STYLE = "assets/pane.js", "assets/pane.css"
FOLDER = "assets/quotes"  # below the chapters
LINK = re.compile(r'<a (?P<to>href="[^"]*/api/[^"]*")><code>(?P<place>[\w/]+\.py:\d+)</code></a>')
LONGEST = 90  # lines of a definition that is quoted whole
AROUND = (3, 20)  # lines before and after a place in a longer one
COLOURS = {
    Comment: "c1", String: "s1", Number: "mi", Keyword: "k", Operator.Word: "k", Name.Function: "nf", Name.Class: "nc",
}  # fmt: skip


def with_links(page: str) -> tuple[str, list[str]]:
    """A page whose links to places are numbered, and these places in order, each once."""
    told: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        number = told.setdefault(found["place"], len(told))
        return f'<a data-quote="{number}" {found["to"]}><code>{found["place"]}</code></a>'

    return LINK.sub(numbered, page), list(told)


def script_of(page: str) -> str:
    """The address in the site of the script with a page's quotations.

    >>> script_of("reference/operators/views.html")
    'assets/quotes/reference-operators-views.js'
    """
    return f"{FOLDER}/{page.removesuffix('.html').replace('/', '-')}.js"


def loading(page: str) -> str:
    """The HTML that loads what shows them, and says where they are."""
    style, program, quotes = (
        posixpath.relpath(path, posixpath.dirname(page) or ".") for path in (STYLE, PROGRAM, script_of(page))
    )
    told = f'data-quotes="{html.escape(quotes)}"'
    return f'<link rel="stylesheet" href="{style}"><script src="{program}" {told} defer></script>'


def script(places: list[str], page: str, root: Path) -> bytes:
    """The script: for each place its caption, its coloured text, and the exercises that ask for what is left out."""
    up = posixpath.relpath("exercises", posixpath.dirname(page) or ".")
    told = json.dumps([quoted(place, up, root) for place in places], ensure_ascii=False, separators=(",", ":"))
    return f"GlassQuotes({told});\n".encode()


def quoted(place: str, exercises: str, root: Path) -> list[Any]:
    """One quotation: `[caption, [text, [class, text], ...], [[exercise, address], ...]]`."""
    file, _, line = place.partition(":")
    path = library() / file
    numbers, whole = around(path, int(line))
    text = textwrap.dedent("".join(excerpt(path, numbers, root))).strip("\n")
    caption = f"glasstorch/{file}, line {numbers.start + 1}" + ("" if whole else ", a part")
    asked = [
        [f"{one.exercise.identity} {one.exercise.title}", f"{exercises}/{one.exercise.page.removesuffix('.md')}.html"]
        for one in asked_in(path, text, root)
    ]
    return [caption, coloured(text), asked]


def around(path: Path, line: int) -> tuple[range, bool]:
    """The lines, from 0, of the statement at the top level that holds a line, and whether that is all of it."""
    numbers = next((found for found in statements(path) if line - 1 in found), range(line - 1, line))
    if len(numbers) <= LONGEST:
        return numbers, True
    before, after = AROUND
    return range(max(numbers.start, line - 1 - before), min(numbers.stop, line - 1 + after)), False


@lru_cache(maxsize=256)
def statements(path: Path) -> tuple[range, ...]:
    """The lines, from 0, of each statement at the top level of a module, with its decorators."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        heads = [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))]
        found.append(range(min(heads) - 1, node.end_lineno or node.lineno))
    return tuple(found)


def coloured(text: str) -> list[str | list[str]]:
    """The pieces of a Python text: those without a colour as they are, others with their class."""
    pieces: list[str | list[str]] = []
    for kind, piece in PythonLexer(ensurenl=False, stripnl=False).get_tokens(text):
        colour = next((name for above, name in COLOURS.items() if kind in above), "")
        last = pieces[-1] if pieces else None
        if colour and isinstance(last, list) and last[0] == colour:
            last[1] += piece
        elif colour:
            pieces.append([colour, piece])
        elif isinstance(last, str):
            pieces[-1] = last + piece
        else:
            pieces.append(piece)
    return pieces
