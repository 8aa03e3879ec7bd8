"""Does the site work in a browser, opened from disk: both colour schemes, wide and narrow, alone on the machine?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import PHONE, SQUEEZED, watched

pytestmark = pytest.mark.ci


def test_a_page_that_was_opened_inside_a_zip_file_says_what_to_do(browser: Any, bare: Path, tmp_path: Path) -> None:
    page = "index.html"
    (tmp_path / page).write_bytes((bare / page).read_bytes())  # all that a system takes out of the zip file
    for folder, seen in ((bare, False), (tmp_path, True)):
        with watched(browser) as window:
            window.open(folder / page)
            told = window.page.get_by_text("Unpack the whole file first, and open index.html")
            assert told.is_visible() is seen
            assert not seen or window.page.evaluate("document.body.innerText").startswith(told.inner_text())


def test_a_table_that_code_makes_too_wide_for_a_phone_is_noticed(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.page.set_viewport_size(PHONE)
        window.open(site / "01-architecture" / "every-hop-of-a-call.html")
        assert window.page.evaluate(SQUEEZED) == []
        window.page.eval_on_selector_all("td wbr", "breaks => breaks.forEach(found => found.remove())")
        window.page.add_style_tag(content=".md-typeset table td code { overflow-wrap: normal !important }")
        assert len(window.page.evaluate(SQUEEZED)) >= 2


DRAWN = """() => {
    const height = found => found.getBoundingClientRect().height;
    const matrix = document.querySelector("mtable");
    return {
        formulas: document.querySelectorAll(".formula math").length,
        faces: [...document.fonts].filter(face => face.status === "loaded")
            .map(face => face.family.replaceAll('"', "")),
        bracket: height(matrix.previousElementSibling) / height(matrix),
        scrolls: [...document.querySelectorAll("div.formula")].map(box => box.scrollWidth > box.clientWidth),
        page: document.documentElement.scrollWidth <= innerWidth,
    };
}"""


@pytest.mark.parametrize("made", ["full", "bare"])
def test_formulas_are_drawn_in_their_typeface_and_scroll_on_a_phone(
    browser: Any, request: pytest.FixtureRequest, made: str
) -> None:
    site = request.getfixturevalue(made)
    with watched(browser) as window:
        window.page.set_viewport_size(PHONE)
        window.open(site / "index.html")
        window.page.evaluate("document.fonts.ready.then(() => true)")
        drawn = window.page.evaluate(DRAWN)
        assert drawn["formulas"] == 3
        assert {"DejaVu Serif Math", "Source Serif 4", "Source Sans 3", "Source Code Pro"} == set(drawn["faces"])
        assert drawn["bracket"] > 0.9, "the brackets of a matrix are as high as it is"
        assert drawn["scrolls"] == [True, False]
        assert drawn["page"]
        assert window.problems == []


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


def test_a_missing_file_is_noticed_and_a_page_that_is_left_early_is_not_blamed(
    browser: Any, site: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text('<img src="missing.png">', encoding="utf-8")
    with watched(browser) as window:
        window.open(page)
        assert f"failed: {(tmp_path / 'missing.png').as_uri()}" in window.problems
        window.problems.clear()
        window.page.goto((site / "index.html").as_uri(), wait_until="commit")
        window.open(site / "00-start" / "one-addition.html")
        assert window.problems == []
