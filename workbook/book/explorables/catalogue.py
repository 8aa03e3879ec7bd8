"""Which explorables are there, and what does a page that shows one need?"""

from __future__ import annotations

import importlib
import json
import posixpath
import re
from pathlib import Path
from typing import Any, Protocol, cast

from workbook.book.cache import Cache
from workbook.book.figures.kit import Figure

NAMES: tuple[str, ...] = (
    "strides",
    "dispatch",
    "engine",
    "versions",
    "launch",
    "allocator",
    "passes",
    "fusion",
)  # in the order of the chapters
FOLDER = "assets/explorables"  # below the chapters
KIT, STYLE = f"{FOLDER}/kit.js", f"{FOLDER}/explorables.css"
FIGURE = '<figure class="figure">'


class Explorable(Protocol):
    """A module of this folder that is named in NAMES."""

    def data(self) -> dict[str, Any]:
        """The facts for the page's program, found out by running the library."""

    def figure(self) -> Figure:
        """The static figure, whose name is `explorable-NAME`."""


def explorable(name: str) -> Explorable:
    """The module of an explorable."""
    return cast(Explorable, importlib.import_module(f"workbook.book.explorables.{name}"))


def drawn(root: Path) -> dict[Path, str]:
    """The path and the content of each static figure."""
    return {root / "chapters" / FOLDER / f"{name}.svg": explorable(name).figure().svg() for name in NAMES}


def name_of(figure: str) -> str | None:
    """The explorable whose static figure is at this path of the site, or None.

    >>> name_of(f"{FOLDER}/strides.svg"), name_of("strides.svg")
    ('strides', None)
    """
    name, extension = posixpath.splitext(posixpath.basename(figure))
    return name if posixpath.dirname(figure) == FOLDER and extension == ".svg" and name in NAMES else None


def as_explorable(figure: str, name: str) -> str:
    """The HTML of a figure, marked as the place of an explorable."""
    return figure.replace(FIGURE, f'<figure class="figure explorable" data-explorable="{name}">', 1)


def shown_in(page: str) -> list[str]:
    """The explorables of a page, each once."""
    return list(dict.fromkeys(re.findall(r'<figure class="figure explorable" data-explorable="([^"]+)">', page)))


def loading(names: list[str], folder: str) -> str:
    """The HTML that loads these explorables on a page of this folder: style, kit and programs (the kit loads data)."""
    scripts = [KIT, *(f"{FOLDER}/{name}.js" for name in names)]
    lines = [f'<link rel="stylesheet" href="{posixpath.relpath(STYLE, folder)}">']
    lines += [f'<script src="{posixpath.relpath(script, folder)}" defer></script>' for script in scripts]
    return "\n".join(lines)


def data_script(name: str, cache: Cache, key: str) -> bytes:
    """The script that gives the page's program its facts; they are found out once for each key."""
    facts = cache.get(key)
    if facts is None:
        facts = explorable(name).data()
        cache.put(key, facts)
    told = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return f"GlassExplorable.data({json.dumps(name)}, {told});\n".encode()
