"""What is seen of a page in a browser, wide and narrow, in both colour schemes, and by axe?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import PATIENCE

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
TABLET = {"width": 768, "height": 1024}
TALLEST = 20_000  # pixels of a page at that width, with all that folds folded
OVERFLOW = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);  // Material lays out in between
  const width = document.documentElement.clientWidth; if (document.documentElement.scrollWidth <= width) return [];
  const tooWide = [...document.querySelectorAll("article *")].filter(e => e.getBoundingClientRect().right > width +
  1); return ["the page is wider than its window", ...tooWide.slice(0, 3).map(e => e.outerHTML.slice(0, 200))];
}"""

SQUEEZED = """() => [...document.querySelectorAll("article table:not([class])")].flatMap(table => {
  const rows = [...table.rows], widths = [...rows[0].cells].map(cell => cell.getBoundingClientRect().width);
  const long = column => rows.some(row => row.cells[column].innerText.length > 30);
  const narrow = widths.some((width, column) => width < 99 && long(column));
  const wide = widths.length <= 4 && widths.reduce((sum, width) => sum + width) > 1.15 * innerWidth;
  return narrow || wide ? [`columns of ${widths.map(Math.round)} pixels: ${rows[0].innerText}`] : []; })"""


# axe's rules, without those that it leaves out by itself; and those of them whose finding depends on the colours.
RULES = """axe._audit.rules.filter(rule => rule.enabled
  && !rule.tags.some(tag => axe._audit.tagExclude.includes(tag))).map(rule => rule.id)"""
COLOURS = ["color-contrast", "link-in-text-block"]
# Material puts it around each table while the page loads; browsers let the keyboard scroll it, which axe does not know.
AROUND_A_TABLE = '<div class="md-typeset__scrollwrap">'
AT_ONCE = "*, ::before, ::after { transition: none !important }"  # no colour on its way to that of another scheme
# Explorables take the place of their static figures when they come near the window.
WAKE = """async () => { for (const figure of document.querySelectorAll("figure.explorable")) {
  if (!figure.querySelector(".x-stage")) figure.scrollIntoView();
  while (!figure.querySelector(".x-stage")) await new Promise(requestAnimationFrame);
} scrollTo(0, 0); }"""
UNFOLD = """async () => {
  document.querySelectorAll("details:not([open])").forEach(fold => { fold.open = fold.unfolded = true });
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);  // Material lays out in between
}"""
FOLD = "() => document.querySelectorAll('details').forEach(fold => { if (fold.unfolded) fold.open = false })"
# Nothing is preloaded: of files on disk, axe may not read style sheets.
OPTIONS = '{resultTypes: ["violations"], preload: false, runOnly: only}'
RUN = """async ([theirs, only]) => (await axe.run(document, OPTIONS)).violations
  .map(found => ({id: found.id, places: found.nodes.map(node => node.html).filter(html => html !== theirs)}))
  .filter(found => found.places.length)
  .map(found => found.id + ": " + found.places.slice(0, 3).map(html => html.slice(0, 160)).join("  "))
""".replace("OPTIONS", OPTIONS)

# How many elements of the article an action changes or makes: what it costs on every machine, busy or not. For how long
# it keeps the browser busy is a matter of the machine, and benchmarks/book.py counts the tasks of over 50 ms.
WATCH = """() => {
  window.touched = new Set();
  const every = node => node instanceof Element ? [node, ...node.querySelectorAll("*")] : [];
  const all = {subtree: true, childList: true, attributes: true, characterData: true};
  const note = one => [one.target, ...[...one.addedNodes].flatMap(every)].forEach(node => window.touched.add(node));
  new MutationObserver(list => list.forEach(note)).observe(document.querySelector("article"), all);
}"""
TOUCHED = "() => { const count = window.touched.size; window.touched.clear(); return count; }"
LEFT = "net::ERR_ABORTED"  # a file that is missing or refused fails with another name


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[None]:
    """A disk on which this file, or what is to become it, is written half, and then there is no more room."""
    real = Path.write_bytes

    def write(path: Path, content: bytes) -> int:
        if not path.name.startswith(name):
            return real(path, content)
        real(path, content[: len(content) // 2])
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", write)
        yield


class Watched:
    """A page of the browser, with all that went wrong on it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self.console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("requestfailed", self.failed)
        page.on("request", self.request)

    def console(self, message: Any) -> None:
        """Keep errors and warnings."""
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def request(self, request: Any) -> None:
        """Keep requests that leave the disk."""
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            self.problems.append(f"asked for {request.url}")

    def failed(self, request: Any) -> None:
        """Keep requests that failed; one that the browser gave up because it left the page did not."""
        if request.failure != LEFT:
            self.problems.append(f"failed: {request.url}")

    def open(self, path: Path, fragment: str = "") -> None:
        """Go to a file of the site."""
        self.page.goto(path.as_uri() + fragment, wait_until="load")


@contextmanager
def watched(browser: Any, scheme: str = "light") -> Iterator[Watched]:
    """A fresh page."""
    context = browser.new_context(viewport=WIDE, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    try:
        yield Watched(context.new_page())
    finally:
        context.close()


def pages_of(site: Path) -> list[Path]:
    """All pages but the one that a server shows for what is not found."""
    return [path for path in sorted(site.rglob("*.html")) if path.name != "404.html"]


def is_reference(path: Path) -> bool:
    """Whether it is a page about modules or operators: these are long, and all of one make."""
    return path.parent.name in ("api", "operators")


BOTH = (("light", "default"), ("dark", "slate"))


def violations(window: Watched, axe: str, only: list[str] | None = None) -> list[str]:
    """What axe says of the page as it is now, with all that folds unfolded: by all its rules, or by these only."""
    page = window.page
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
        page.add_style_tag(content=AT_ONCE)
    page.evaluate(UNFOLD)
    found = list(page.evaluate(RUN, [AROUND_A_TABLE, only or page.evaluate(RULES)]))
    page.evaluate(FOLD)
    return found


def regarded(
    window: Watched,
    schemes: tuple[tuple[str, str], ...] = BOTH,
    axe: str | None = None,
    axe_at: tuple[dict[str, int], ...] = (WIDE,),
) -> list[str]:
    """What is wrong on the page as it is now, at three widths, in these schemes where colours are looked at.

    Given axe's text, axe looks at these widths, too: by all its rules, then by those of colours in the other scheme.
    """
    page, found = window.page, []
    for size in (WIDE, TABLET, PHONE):  # in this order: the search field glides when a window grows
        page.set_viewport_size(size)
        looked = False
        for scheme, name in schemes if axe is not None and size in axe_at else schemes[:1]:
            page.emulate_media(color_scheme=scheme)
            page.wait_for_selector(f'body[data-md-color-scheme="{name}"]')
            said = list(page.evaluate(OVERFLOW))
            height = page.evaluate("document.documentElement.scrollHeight")
            if size is WIDE and height > TALLEST:
                said.append(f"the page is {height} pixels high")
            if axe is not None and size in axe_at:
                said += violations(window, axe, COLOURS if looked else None)
                looked = True
            found += [f"{scheme}, {size['width']}: {one}" for one in said]
        schemes = schemes[::-1]  # the scheme that is on comes first
    return found + list(page.evaluate(SQUEEZED))


def look(
    browser: Any,
    pages: list[Path],
    schemes: tuple[tuple[str, str], ...] = BOTH,
    axe: str | None = None,
    axe_at: tuple[dict[str, int], ...] = (WIDE,),
) -> dict[str, list[str]]:
    """What is wrong on each of these pages, from disk: what went wrong in it, and what is seen (`regarded`)."""
    found = {}
    with watched(browser) as window:
        for path in pages:
            window.problems.clear()
            window.page.set_viewport_size(WIDE)
            window.open(path)
            window.page.evaluate(WAKE)
            said = regarded(window, schemes, axe, axe_at)
            if said or window.problems:
                found[f"{path.parent.name}/{path.name}"] = [*window.problems, *said]
    return found
