"""Can the map on the home page be used: by pointing, by the keyboard, by ear, on a phone?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import PHONE, WIDE, watched
from workbook.book.house import HEADS, LAYERS

pytestmark = pytest.mark.ci

PANE, REFERENCE = "dialog.quote-pane", "Its page in the reference"
MAP, LIST = ".house-figure svg", ".house-list"
SEEN = "link => { const box = link.getBoundingClientRect(); return Math.min(box.width, box.height) }"


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("core/, the modules of glasstorch.core", "reference/api/core.html"),
        ("_tensor.py, the modules of glasstorch._tensor", "reference/api/tensor.html"),
        ("__init__.py, the modules of glasstorch", "reference/api/init.html"),
        ("04 Autograd, chapter of the book", "04-autograd/the-graph-is-built-by-running.html"),
    ],
)
def test_what_is_pointed_at_on_the_map_opens(browser: Any, site: Path, name: str, page: str) -> None:
    with watched(browser) as window:
        window.open(site / "index.html")
        window.page.locator(MAP).get_by_role("link", name=name, exact=True).first.click()
        if page.startswith("reference/"):  # a room opens beside the page first
            window.page.locator(PANE).get_by_role("link", name=REFERENCE).click()
        window.page.wait_for_url(f"**/{page}*")
        assert window.problems == []


def test_the_keyboard_goes_through_the_map_from_the_top_down(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "index.html")
        links = window.page.locator(f"{MAP} a")
        links.first.focus()
        reached = []
        for _ in range(links.count()):
            reached.append(window.page.evaluate("document.activeElement.getAttribute('aria-label')"))
            window.page.keyboard.press("Tab")
        assert reached == [links.nth(index).get_attribute("aria-label") for index in range(links.count())]
        assert reached[0].startswith("cuda/")
        assert not window.page.evaluate(f"document.activeElement.closest('{MAP}') !== null")
        window.page.keyboard.press("Shift+Tab")
        frame = f"getComputedStyle(document.querySelectorAll('{MAP} a .g-hit')[{links.count() - 1}]).stroke"
        assert window.page.evaluate(frame) != "none"
        window.page.locator(MAP).get_by_role("link", name="core/, the modules of glasstorch.core").focus()
        window.page.keyboard.press("Enter")
        window.page.locator(PANE).wait_for(state="visible")
        window.page.keyboard.press("Tab")  # the quotation, which can be scrolled
        window.page.keyboard.press("Tab")
        window.page.keyboard.press("Enter")
        window.page.wait_for_url("**/reference/api/core.html")


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_the_keyboard_has_a_way_past_the_map(browser: Any, site: Path, size: dict[str, int]) -> None:
    with watched(browser) as window:
        window.page.set_viewport_size(size)
        window.open(site / "index.html")
        way = window.page.get_by_role("link", name="Past the map")
        assert way.bounding_box()["x"] < 0, "it is seen only by those who need it"
        window.page.locator(".way a").last.focus()
        window.page.keyboard.press("Tab")  # the heading of the map
        window.page.keyboard.press("Tab")
        assert way.evaluate("link => link === document.activeElement")
        assert way.bounding_box()["x"] >= 0
        window.page.keyboard.press("Enter")
        window.page.keyboard.press("Tab")
        assert window.page.evaluate("document.activeElement.textContent") == "The map, explained"
        assert 0 < window.page.get_by_role("link", name="The map, explained").bounding_box()["y"] < size["height"]


def test_a_screen_reader_hears_a_group_of_links(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "index.html")
        said = window.page.locator(".house-figure").aria_snapshot()
        assert said.startswith("- figure")
        assert 'group "The map of the house' in said
        assert 'link "operators/, the modules of glasstorch.operators"' in said
        assert 'link "c10/core/TensorImpl.h in PyTorch\'s source"' in said


def test_a_phone_shows_the_map_as_a_list_and_a_screen_as_a_figure(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "index.html")
        assert window.page.locator(MAP).is_visible()
        assert not window.page.locator(LIST).is_visible()
        window.page.set_viewport_size(PHONE)
        assert not window.page.locator(MAP).is_visible()
        assert window.page.locator(f"{LIST} dt").count() == len(LAYERS)
        assert {line.inner_text() for line in window.page.locator(f"{LIST} dd em").all()} == set(HEADS)
        assert window.page.locator(f"{LIST} dd em").count() == window.page.locator(f"{LIST} dd").count()
        window.page.locator(LIST).get_by_role("link", name="jit/", exact=True).click()
        window.page.locator(PANE).get_by_role("link", name=REFERENCE).click()
        window.page.wait_for_url("**/reference/api/jit.html*")


def test_links_of_the_map_are_large_enough_on_a_screen(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "index.html")
        hits = window.page.locator(f"{MAP} .g-hit").all()
        assert len(hits) > 30
        assert min(hit.evaluate(SEEN) for hit in hits) >= 22  # the figure is drawn a little smaller than it is


def test_the_contents_lead_to_every_section(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / "index.html")
        window.page.locator(".contents").get_by_role("link", name="One addition").first.click()
        window.page.wait_for_url("**/00-start/one-addition.html")
