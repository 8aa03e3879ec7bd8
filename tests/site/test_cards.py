"""Does a word show its card, and a place in the source what stands there, to the pointer and to the keyboard?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import PHONE, WIDE, violations, watched

SECTION = "03-dispatcher/a-call-is-a-set-of-keys.html"
CARD = "#hover-card"
LINK = 'article a[data-card][href*="glossary"]'
OPERATORS = "reference/operators/views.html"
PANE, QUOTE = "dialog.quote-pane", "article a[data-quote]"
INSIDE = """card => { const box = card.getBoundingClientRect();
  return box.left >= 0 && box.right <= document.documentElement.clientWidth && box.top >= 0 && box.width > 100; }"""


@pytest.mark.ci
def test_a_card_comes_to_the_pointer_and_to_the_keyboard_and_goes_by_escape(browser: Any, site: Path, axe: str) -> None:
    with watched(browser) as window:
        page = window.page
        window.open(site / SECTION)
        card, link = page.locator(CARD), page.locator(LINK).first
        assert card.is_hidden()

        link.hover()
        card.wait_for(state="visible")
        word = link.inner_text().strip()
        assert len(card.inner_text()) > 80 > len(word)
        assert link.get_attribute("aria-describedby") == "hover-card"
        page.locator(f"{CARD} p").nth(1).hover()  # the card itself can be pointed at, and stays
        page.wait_for_timeout(600)  # longer than the card would take to go
        assert card.is_visible()
        page.keyboard.press("Escape")
        card.wait_for(state="hidden")
        assert link.get_attribute("aria-describedby") is None

        page.mouse.move(1, 1)
        place = page.evaluate("scrollY")
        link.evaluate("link => link.focus({focusVisible: true})")
        card.wait_for(state="visible")
        page.keyboard.press("Escape")
        card.wait_for(state="hidden")
        assert link.evaluate("link => link === document.activeElement")
        assert page.evaluate("scrollY") == place
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        card.wait_for(state="visible")
        page.evaluate("document.activeElement.blur()")
        card.wait_for(state="hidden")

        rules = None
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                link.evaluate("link => { link.blur(); link.focus({focusVisible: true}); }")
                card.wait_for(state="visible")
                assert card.evaluate(INSIDE)
                assert violations(window, axe, rules) == []
                rules = ["color-contrast", "link-in-text-block"]
        link.focus()
        page.keyboard.press("Enter")  # the link leads to the same, in full
        page.wait_for_url("**/00-start/glossary.html#*")
        assert window.problems == []


@pytest.mark.ci
def test_a_place_in_the_source_opens_beside_the_page_which_stays_where_it_is(
    browser: Any, site: Path, axe: str
) -> None:
    with watched(browser) as window:
        page = window.page
        window.open(site / OPERATORS)
        pane, link = page.locator(PANE), page.locator(QUOTE).nth(12)
        assert page.evaluate("typeof GlassQuotes") == "function"  # nothing is quoted before it is asked for
        link.scroll_into_view_if_needed()
        place = page.evaluate("scrollY")
        file = link.inner_text().partition(":")[0]
        for close in ("Escape", "button"):
            link.focus()
            page.keyboard.press("Enter")
            pane.wait_for(state="visible")
            assert pane.locator("h2").inner_text().startswith(f"glasstorch/{file}, line ")
            assert len(pane.locator("pre").inner_text()) > 30
            assert pane.evaluate("pane => pane.contains(document.activeElement)")
            if close == "Escape":
                page.keyboard.press("Escape")
            else:
                pane.get_by_role("button", name="Close").click()
            pane.wait_for(state="hidden")
            assert link.evaluate("link => link === document.activeElement")
            assert page.evaluate("scrollY") == place

        rules = None
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)
            link.click()
            pane.wait_for(state="visible")
            box = pane.bounding_box()
            assert box["x"] >= 0
            assert abs(box["x"] + box["width"] - size["width"]) <= 16  # at the side, but for a scrollbar
            assert abs(box["y"] + box["height"] - size["height"]) <= 1
            assert box["height"] < size["height"] or size is WIDE
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert violations(window, axe, rules) == []
                rules = ["color-contrast", "link-in-text-block"]
            page.mouse.click(5, 60)  # beside the pane
            pane.wait_for(state="hidden")
        assert window.problems == []
