"""Is every page sound, and can those use it who do not see it, or not well? axe finds nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import BOTH, PHONE, TABLET, WIDE, is_reference, look, pages_of, violations, watched
from workbook.book import api

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
# Indexes, a short and a long page about modules, one with withheld code, one with CUDA C++, and a list of operators;
# then a page about one module, and a further page of a list.
OF_EACH_MAKE = ("index", "printing", "core", "autograd", "kernels-cuda", "fft", "core-storage", "views-2")
# The home page, sections with an explorable, a formula, predictions and an exercise, the glossary, a page of the
# reference with a form and one with a long list, two exercises (to write and to repair), and a list of operators.
AT_EVERY_WIDTH = (
    "index", "00-start/one-backward", "00-start/glossary", "02-tensor-storage/when-a-view-is-impossible",
    "04-autograd/the-engine-step-by-step", "exercises/index", "exercises/02.1-strides", "exercises/03.3-forget",
    "reference/source-map", "reference/operators/views", "reference/api/dispatch",
)  # fmt: skip


def reference(site: Path) -> list[Path]:
    """The pages about modules and operators; of those about single modules, the longest of each folder."""
    left_out: set[Path] = set()
    for entry in api.nav_entries(ROOT):
        for pages in (pages for pages in entry.values() if isinstance(pages, list)):
            paths = [site / path.replace(".md", ".html") for page in pages[1:] for path in page.values()]
            left_out |= {*paths} - {max(paths, key=lambda path: path.stat().st_size)}
    return [path for path in pages_of(site) if is_reference(path) and path not in left_out]


def of_each_make(site: Path) -> list[Path]:
    """The pages of the book that are looked at from everywhere."""
    return [site / f"{name}.html" for name in AT_EVERY_WIDTH]


def exercises(site: Path) -> list[Path]:
    """The other pages of exercises, which are all of one make."""
    return [path for path in pages_of(site) if path.parent.name == "exercises" and path not in of_each_make(site)]


def test_axe_finds_nothing_wide_and_on_a_phone_on_pages_of_each_make(browser: Any, site: Path, axe: str) -> None:
    assert look(browser, of_each_make(site), BOTH[:1], axe, axe_at=(WIDE, PHONE)) == {}


@pytest.mark.slow  # six times as many looks
def test_axe_finds_nothing_at_any_width_on_pages_of_each_make(browser: Any, site: Path, axe: str) -> None:
    assert look(browser, of_each_make(site), axe=axe, axe_at=(WIDE, TABLET, PHONE)) == {}


def sections(site: Path) -> list[Path]:
    """The other pages of the book."""
    left_out = {*of_each_make(site), *exercises(site)}
    return [path for path in pages_of(site) if path not in left_out and not is_reference(path)]


@pytest.mark.parametrize("scheme", range(len(BOTH)))
def test_every_page_of_the_book_is_sound_in_one_scheme(browser: Any, site: Path, axe: str, scheme: int) -> None:
    pages = sections(site)[scheme :: len(BOTH)]
    assert len(pages) > 15
    assert look(browser, pages, BOTH[scheme : scheme + 1], axe) == {}


@pytest.mark.slow  # each page again, in the scheme that is left
def test_every_page_of_the_book_is_sound_in_both_schemes(browser: Any, site: Path, axe: str) -> None:
    assert look(browser, sections(site), axe=axe) == {}


def test_every_page_of_an_exercise_is_sound_wide_and_narrow(browser: Any, site: Path) -> None:
    assert len(exercises(site)) > 30
    assert look(browser, exercises(site), BOTH[:1]) == {}


@pytest.mark.slow  # forty pages of the same make as two of those above
def test_axe_finds_nothing_on_any_page_of_an_exercise(browser: Any, site: Path, axe: str) -> None:
    assert look(browser, exercises(site), axe=axe) == {}


@pytest.mark.slow  # two hundred pages of the same make as those below, which are looked at in the same way
def test_every_page_about_modules_or_operators_is_sound_wide_and_narrow(browser: Any, site: Path) -> None:
    pages = reference(site)
    assert 80 < len(pages) < 300
    assert look(browser, pages, BOTH[:1]) == {}


def test_axe_finds_nothing_on_pages_of_each_make(browser: Any, site: Path, axe: str) -> None:
    pages = [path for path in pages_of(site) if is_reference(path) and path.stem in OF_EACH_MAKE]
    assert len(pages) == len(OF_EACH_MAKE) + 1  # two of them are indexes
    assert look(browser, pages, BOTH[:1], axe) == {}


@pytest.mark.slow  # a hundred pages of the same make as those above
def test_axe_finds_nothing_on_any_page_about_modules(browser: Any, site: Path, axe: str) -> None:
    pages = [path for path in reference(site) if path.parent.name == "api" and path.stem not in OF_EACH_MAKE]
    assert look(browser, pages, BOTH[:1], axe) == {}


def test_a_page_with_everything_is_sound_with_and_without_what_comes_from_npm(
    browser: Any, full: Path, bare: Path, axe: str
) -> None:
    assert look(browser, pages_of(full), axe=axe) == {}
    assert look(browser, pages_of(bare), axe=axe) == {}


def test_axe_finds_what_is_planted(browser: Any, site: Path, axe: str) -> None:
    planted = "article => { article.innerHTML += '<details><img src=x.png><p style=\"color:#ddd\">pale</p></details>' }"
    with watched(browser) as window:
        window.open(site / "index.html")
        window.page.eval_on_selector("article", planted)
        assert [said.partition(":")[0] for said in violations(window, axe)] == ["color-contrast", "image-alt"]
        assert window.page.eval_on_selector("article details:last-of-type", "fold => fold.open") is False


def test_what_is_wrong_in_the_dark_only_is_found(browser: Any, site: Path, axe: str, tmp_path: Path) -> None:
    page = site / "reference" / "errata.html"
    pale = '<p style="color: #222">dark on dark</p></article>'
    planted = site / "reference" / "planted.html"
    planted.write_text(page.read_text(encoding="utf-8").replace("</article>", pale, 1), encoding="utf-8")
    try:
        found = look(browser, [planted], axe=axe)
    finally:
        planted.unlink()
    assert [said.partition(" <")[0] for said in found["reference/planted.html"]] == ["dark, 1280: color-contrast:"]
