"""Does the site work in a browser, opened from disk: both colour schemes, wide and narrow, alone on the machine?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import PHONE, SQUEEZED, watched

pytestmark = pytest.mark.ci


def test_a_table_that_code_makes_too_wide_for_a_phone_is_noticed(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.page.set_viewport_size(PHONE)
        window.open(site / "01-architecture" / "every-hop-of-a-call.html")
        assert window.page.evaluate(SQUEEZED) == []
        window.page.eval_on_selector_all("td wbr", "breaks => breaks.forEach(found => found.remove())")
        window.page.add_style_tag(content=".md-typeset table td code { overflow-wrap: normal !important }")
        assert len(window.page.evaluate(SQUEEZED)) >= 2


def test_formulas_and_diagrams_are_drawn(browser: Any, full: Path) -> None:
    with watched(browser) as window:
        window.open(full / "index.html")
        drawn = window.page.wait_for_selector("div.mermaid")
        assert drawn.bounding_box()["height"] > 30
        assert window.page.locator("pre.mermaid").count() == 0
        assert window.page.locator(".katex-html").count() == 2
        assert window.page.evaluate("document.fonts.check('16px KaTeX_Main')")
        assert window.problems == []


def test_without_npm_they_are_shown_as_text(browser: Any, bare: Path) -> None:
    with watched(browser) as window:
        window.open(bare / "index.html")
        assert window.page.locator(".formula-source code").first.inner_text() == "a_1 < b"
        assert "A[add] --> B[backward]" in window.page.locator(".diagram-source").inner_text()
        assert window.page.locator("div.mermaid").count() == 0


def test_the_search_finds_pages_from_disk(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "index.html")
        window.page.locator(".md-search__input").press_sequentially("dispatcher", delay=30)
        first = window.page.wait_for_selector(".md-search-result__link")
        assert first.get_attribute("href")
        assert window.problems == []


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(252, 253, 252)"), ("dark", "rgb(18, 24, 25)")])
def test_the_readers_preference_is_followed_and_can_be_changed(
    browser: Any, site: Path, scheme: str, background: str
) -> None:
    with watched(browser, scheme) as window:
        window.open(site / "index.html")
        colour = "getComputedStyle(document.body).backgroundColor"
        figure = "getComputedStyle(document.querySelector('.glass-figure .g-text')).fill"
        assert window.page.evaluate(colour) == background
        before = window.page.evaluate(figure)
        for _ in range(2 if scheme == "light" else 1):  # from the system's colours to light, from light to dark
            window.page.locator("[data-md-component=palette] label:not([hidden])").click()
        assert window.page.evaluate(colour) != background
        assert window.page.evaluate(figure) != before


def test_a_fold_opens_and_an_erratum_is_found_by_its_address(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "reference" / "errata.html", "#E010")
        entry = window.page.locator("#E010")
        assert entry.is_visible()
        code = entry.locator("details .cell-input").first
        assert not code.is_visible()
        entry.locator("summary").first.click()
        assert code.is_visible()


def test_a_section_hands_out_its_command_and_its_notebook(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        window.open(site / "00-start" / "one-backward.html")
        window.page.locator(".run .md-code__button").first.click()
        copied = window.page.evaluate("navigator.clipboard.readText()")
        assert copied == ".venv/bin/workbook lab chapters/00-start/one-backward.md"
        link = window.page.locator(".run .download")
        assert (link.get_attribute("href"), link.get_attribute("download")) == ("one-backward.ipynb", "")
        assert window.page.locator(".facts dt").all_inner_texts() == ["Time", "Needs", "Aim"]


def test_a_hint_is_folded_and_the_lab_sheet_can_be_had(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "exercises" / "02.1-strides.html")
        hints = window.page.locator("details.hint")
        assert hints.count() >= 3
        assert not hints.first.locator("p").first.is_visible()
        hints.first.locator("summary").click()
        assert hints.first.locator("p").first.is_visible()
        link = window.page.locator("a.download")
        assert (link.get_attribute("href"), link.get_attribute("download")) == ("02.1-strides-lab.ipynb", "")
        assert (site / "exercises" / "02.1-strides-lab.ipynb").is_file()


def test_previous_and_next_lead_on_from_disk_and_on_a_phone(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.page.set_viewport_size(PHONE)
        window.open(site / "00-start" / "one-addition.html")
        window.page.locator(".md-footer__link--next").click()
        window.page.wait_for_url("**/one-backward.html")
        window.page.locator(".md-footer__link--prev").click()
        window.page.wait_for_url("**/one-addition.html")
        assert window.problems == []
