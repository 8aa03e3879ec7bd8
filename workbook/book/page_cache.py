"""How is a page's Markdown converted to HTML only if that was not done before?

The work is done by MkDocs and mkdocstrings. What they find out about a page beside its HTML is kept with it: its
headings, its anchors, its links to anchors elsewhere, and the names that it documents.
"""

from __future__ import annotations

import json
import logging
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, TableOfContents
from mkdocstrings import Inventory

from workbook.book.cache import Cache, digest

AUTODOC = ":::"  # begins what is replaced by the docstrings of a module
ALIAS = 2  # the priority in the inventory of a name that another page may own


class PageCache:
    """Converts the pages of one build to HTML.

    `renderer` is a hash of the programs and settings, `library` one of the source that docstrings are read from, and
    `apart` the folder of files that only the page refers to that they were made for.
    """

    def __init__(self, cache: Cache, renderer: str, library: str, apart: str) -> None:
        self.cache = cache
        self.renderer = renderer
        self.library = library
        self.apart = f"{apart}/"
        self.linked = ""

    def render(self, page: Page, config: MkDocsConfig, files: Files) -> None:
        """Replaces `Page.render`."""
        key = self.key_of(page, files)
        kept = self.cache.get(key)
        if kept is None:
            with listening() as said:
                kept = rendered(page, config, files)
            if not said:  # a warning is given again, until what it is about is mended
                self.cache.put(key, kept)
        restore(kept, page, config, files)

    def key_of(self, page: Page, files: Files) -> str:
        """A hash of everything that determines the page's HTML."""
        markdown = page.markdown or ""
        if not self.linked:
            self.linked = digest(*(line for line in lines_about(files) if not line.startswith(self.apart)))
        own = [line for line in lines_about(files) if line.startswith(self.apart) and named_in(line, markdown)]
        return digest(
            self.renderer,
            self.linked,
            self.library if AUTODOC in markdown else "",
            page.file.src_uri,
            markdown,
            json.dumps(page.meta, default=repr, sort_keys=True),
            *own,
        )


def lines_about(files: Files) -> list[str]:
    """The targets that a link may have, and their paths in the site."""
    return sorted(f"{file.src_uri} {file.dest_uri} {file.inclusion.name}" for file in files)


def named_in(line: str, markdown: str) -> bool:
    """Whether a text names the file that a line describes."""
    return posixpath.basename(line.split(" ", 1)[0]) in markdown


class Kept(logging.Handler):
    """Collects warnings in a list."""

    def __init__(self, said: list[logging.LogRecord]) -> None:
        super().__init__(logging.WARNING)
        self.said = said

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one."""
        self.said.append(record)


@contextmanager
def listening() -> Iterator[list[logging.LogRecord]]:
    """The warnings that are logged inside the `with` block."""
    said: list[logging.LogRecord] = []
    handler = Kept(said)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(handler)
    try:
        yield said
    finally:
        logger.removeHandler(handler)


def rendered(page: Page, config: MkDocsConfig, files: Files) -> dict[str, Any]:
    """Render the page as MkDocs does; returns all results as JSON values."""
    with recorded(config) as (anchors, inventory):
        Page.render(page, config, files)
    links = page.links_to_anchors or {}
    return {
        "content": page.content,
        "toc": [as_rows(link) for link in page.toc],
        "title": page._title_from_render,
        "anchors": sorted(page.present_anchor_ids or ()),
        "links": {file.src_uri: places for file, places in links.items()},
        "registered": anchors,
        "inventory": [
            [item.name, item.domain, item.role, item.uri, item.priority, item.dispname] for item in inventory.values()
        ],
    }


def as_rows(link: AnchorLink) -> list[Any]:
    """A heading with those below it, as JSON values."""
    return [link.title, link.id, link.level, [as_rows(child) for child in link.children]]


def from_rows(row: list[Any]) -> AnchorLink:
    """The reverse of `as_rows`."""
    title, identity, level, children = row
    link = AnchorLink(title, identity, level)
    link.children = [from_rows(child) for child in children]
    return link


@contextmanager
def recorded(config: MkDocsConfig) -> Iterator[tuple[list[list[Any]], Inventory]]:
    """The anchors and names that a page registers inside the `with` block, hidden from the other pages."""
    anchors: list[list[Any]] = []
    inventory = Inventory()
    if "mkdocstrings" not in config.plugins:
        yield anchors, inventory
        return
    autorefs, handlers = config.plugins["autorefs"], config.plugins["mkdocstrings"].handlers  # type: ignore[attr-defined]

    def register(
        page: Page, identifier: str, anchor: str | None = None, *, title: str | None = None, primary: bool = True
    ) -> None:
        anchors.append([identifier, anchor, title, primary])

    everything = handlers.inventory
    vars(autorefs)["register_anchor"], handlers.inventory = register, inventory
    try:
        yield anchors, inventory
    finally:
        del vars(autorefs)["register_anchor"]
        handlers.inventory = everything


def restore(kept: dict[str, Any], page: Page, config: MkDocsConfig, files: Files) -> None:
    """Give the page the results of an earlier rendering, and the plugins what they need to know about it."""
    page.content = kept["content"]
    page.toc = TableOfContents([from_rows(row) for row in kept["toc"]])
    page._title_from_render = kept["title"]
    page.present_anchor_ids = set(kept["anchors"])
    page.links_to_anchors = {
        file: places for uri, places in kept["links"].items() if (file := files.get_file_from_path(uri)) is not None
    }
    if "mkdocstrings" not in config.plugins:
        return
    autorefs, handlers = config.plugins["autorefs"], config.plugins["mkdocstrings"].handlers  # type: ignore[attr-defined]
    for identifier, anchor, title, primary in kept["registered"]:
        autorefs.register_anchor(page, identifier, anchor, title=title, primary=primary)  # type: ignore[attr-defined]
    for name, domain, role, uri, priority, dispname in kept["inventory"]:
        if priority != ALIAS or name not in handlers.inventory:
            handlers.inventory.register(name, domain, role, uri, priority, dispname)
