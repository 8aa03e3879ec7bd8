"""Does a word show its card to the pointer and to the keyboard, and to nobody who did not ask?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import PHONE, WIDE, violations, watched

SECTION = "03-dispatcher/a-call-is-a-set-of-keys.html"
CARD = "#hover-card"
LINK = 'article a[data-card][href*="glossary"]'
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
