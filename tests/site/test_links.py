"""Does every link, image, script and anchor of the built site lead somewhere?"""

from __future__ import annotations

import posixpath
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

LINKS = {"a": "href", "link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "use": "href"}


class Page(HTMLParser):
    """What a page refers to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the element's target and its name."""
        values = dict(attrs)
        if target := values.get(LINKS.get(tag, "")):
            self.links.append((tag, target))
        if identity := values.get("id"):
            self.ids.append(identity)
        self.anchors |= {name for name in (identity, values.get("name")) if name}


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Every page by its path. The page for what is not found is left out: it is served at any depth."""
    paths = [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    return {path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8")) for path in paths}


def broken(name: str, page: Page, pages: dict[str, Page], files: set[str]) -> list[str]:
    """The links of a page that lead nowhere."""
    found = []
    for tag, target in page.links:
        url = urlsplit(target)
        if url.scheme == "https" and tag == "a":
            continue
        if url.scheme or url.netloc:
            found.append(f"{target}: a {tag} may not ask another host")
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(url.path))) if url.path else name
        if path == ".":
            path = "index.html"
        if path not in files:
            found.append(f"{target}: no file {path}")
        elif url.fragment and path in pages and unquote(url.fragment) not in pages[path].anchors:
            found.append(f"{target}: no anchor {url.fragment} in {path}")
    return found


def test_nothing_is_broken(site: Path, pages: dict[str, Page]) -> None:
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    found = {name: problems for name, page in pages.items() if (problems := broken(name, page, pages, files))}
    assert found == {}


def test_no_id_occurs_twice_on_a_page(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        assert {identity for identity, count in Counter(page.ids).items() if count > 1} == set(), name


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<a href="gone.html">', "gone.html: no file gone.html"),
        ('<a href="b.html#gone">', "b.html#gone: no anchor gone in b.html"),
        ('<a href="#gone">', "#gone: no anchor gone in a.html"),
        ('<script src="https://unpkg.com/x.js">', "https://unpkg.com/x.js: a script may not ask another host"),
        ('<link href="//fonts.example/x.css">', "//fonts.example/x.css: a link may not ask another host"),
        ('<a href="https://github.com/pytorch/pytorch"><a href="b.html#here"><p id="x"><a href="#x">', None),
    ],
)
def test_the_crawler_finds_what_is_broken(html: str, said: str | None) -> None:
    pages = {"a.html": Page(html), "b.html": Page('<h2 id="here">')}
    assert broken("a.html", pages["a.html"], pages, set(pages)) == ([said] if said else [])


def test_no_program_of_the_site_names_a_public_host_of_scripts(site: Path) -> None:
    hosts = ("unpkg.com", "jsdelivr.net", "cdnjs.cloudflare.com", "fonts.googleapis.com", "fonts.gstatic.com")
    programs = [p for p in site.rglob("*") if p.suffix in (".js", ".css", ".html") and "vendor" not in p.parts]
    named = {p.name: host for p in programs for host in hosts if host in p.read_text(encoding="utf-8")}
    assert named == {}
