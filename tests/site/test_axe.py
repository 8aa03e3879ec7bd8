"""Can every page be used by those who do not see it, or not well? axe finds nothing serious or critical."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.site.test_browser import BOTH, is_reference, pages_of, watched
from workbook.book.vendor import CACHE, Package, fetch

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
AXE = Package(
    package="axe-core",
    version="4.14.1",
    sha256="e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745",
    files={"axe.min.js": "axe.min.js"},
)
UNFOLD = "document.querySelectorAll('details').forEach(fold => { fold.open = true })"
# Material puts it around each table while the page loads; browsers let the keyboard scroll it, which axe does not know.
AROUND_A_TABLE = '<div class="md-typeset__scrollwrap">'
COLOURS = ["color-contrast", "link-in-text-block"]  # what differs between the schemes
NAMES = dict(BOTH)
AT_ONCE = "*, ::before, ::after { transition: none !important }"  # no colour on its way to that of another scheme
RUN = """async ([theirs, rules]) => (await axe.run(document, {resultTypes: ["violations"], ...rules})).violations
  .filter(found => ["serious", "critical"].includes(found.impact))
  .map(found => ({id: found.id, places: found.nodes.map(node => node.html).filter(html => html !== theirs)}))
  .filter(found => found.places.length)
  .map(found => found.id + ": " + found.places.slice(0, 3).map(html => html.slice(0, 160)).join("  "))"""


@pytest.fixture(scope="module")
def axe(require: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program that looks, from npm, kept where the book keeps what comes from there."""
    kept = ROOT / CACHE / f"{AXE.package}-{AXE.sha256[:12]}.js"
    if not kept.is_file():
        scratch = tmp_path_factory.mktemp("axe")
        if problem := fetch(require("npm"), AXE, scratch, scratch / "out"):
            pytest.skip(problem)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(scratch / "out" / "axe.min.js", scratch / kept.name)
        (scratch / kept.name).rename(kept)
    return kept.read_text(encoding="utf-8")


def violations(window: Any, axe: str, only: list[str] | None = None) -> list[str]:
    """What axe says of the page as it is now, with all that folds unfolded; by all its rules, or some only."""
    if not window.page.evaluate("'axe' in window"):
        window.page.evaluate(axe)
    window.page.evaluate(UNFOLD)
    return list(window.page.evaluate(RUN, [AROUND_A_TABLE, {"runOnly": only} if only else {}]))


def test_axe_finds_nothing_serious_on_any_page_of_the_book_in_both_schemes(browser: Any, site: Path, axe: str) -> None:
    pages = [path for path in pages_of(site) if not is_reference(path) or path.name == "dispatch.html"]
    assert found_on(pages, browser, axe, {"light": None, "dark": COLOURS}) == {}


def test_axe_finds_nothing_serious_on_any_page_about_modules(browser: Any, site: Path, axe: str) -> None:
    pages = [path for path in pages_of(site) if is_reference(path)]
    # The lists of operators are tables of one make, and the longest pages that there are: the index and one of them.
    pages = [path for path in pages if path.parent.name == "api" or path.stem in ("index", "fourier-transforms")]
    assert len(pages) > 20
    assert found_on(pages, browser, axe, {"light": None}) == {}


def found_on(pages: list[Path], browser: Any, axe: str, schemes: dict[str, list[str] | None]) -> dict[str, list[str]]:
    """What axe says of pages in these schemes, by all its rules or some only. Each page is loaded once."""
    found = {}
    with watched(browser) as window:
        for path in pages:
            window.page.emulate_media(color_scheme="light")
            window.open(path)
            window.page.add_style_tag(content=AT_ONCE)
            for scheme, only in schemes.items():
                window.page.emulate_media(color_scheme=scheme)
                window.page.wait_for_selector(f'body[data-md-color-scheme="{NAMES[scheme]}"]')
                if said := violations(window, axe, only):
                    found[f"{path.parent.name}/{path.name}, {scheme}"] = said
    return found


def test_axe_finds_nothing_serious_on_a_page_with_everything(browser: Any, full: Path, bare: Path, axe: str) -> None:
    for built in (full, bare):
        with watched(browser) as window:
            window.open(built / "index.html")
            assert violations(window, axe) == []


def test_axe_finds_what_is_planted(browser: Any, site: Path, axe: str) -> None:
    planted = "article => { article.innerHTML += '<details><img src=x.png><p style=\"color:#ddd\">pale</p></details>' }"
    with watched(browser) as window:
        window.open(site / "index.html")
        window.page.eval_on_selector("article", planted)
        assert [said.partition(":")[0] for said in violations(window, axe)] == ["color-contrast", "image-alt"]
