"""Do boxes of figures, tables, maps and the glossary open the code that they name, also what a reader has written?"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import ROOT
from tests.site.looking import COLOURS, PHONE, WIDE, violations, watched
from workbook.exercises import state as states
from workbook.exercises.catalogue import find
from workbook.serve import bind, in_background

pytestmark = pytest.mark.ci
PANE = "dialog.quote-pane"
FIGURE = "article figure:has(.glass-figure) a[data-quote]"
UNFOLD = "() => document.querySelectorAll('details').forEach(fold => { fold.open = true })"
SECTION = "07-nn-and-training/hooks-and-their-order.html"
WITHHELD = "article table a[data-quote]"  # Call.run, for which 07.3 asks
BOXES = {
    "trace": ("00-start/one-addition.html", FIGURE, "autograd/generated/autograd_kernels.py, line ", "def add_Tensor("),
    "graph": ("00-start/one-backward.html", FIGURE, "operators/derivatives.yaml, line ", "- op: sum"),
    "table": ("05-cuda/streams-and-events.html", WITHHELD, "devices/stream.py, line ", "class Stream"),
    "glossary": ("00-start/glossary.html", "article em a[data-quote]", "autograd/accumulate_grad.py, line ", "class "),
    "map": ("index.html", ".house-figure a[data-quote]", "cuda/__init__.py", '"""'),
    "map on a phone": ("index.html", ".house-list a[data-quote]", "cuda/__init__.py", '"""'),
}


@pytest.mark.parametrize("kind", BOXES)
def test_a_box_opens_the_code_that_it_names(browser: Any, site: Path, axe: str, kind: str) -> None:
    path, links, caption, begins = BOXES[kind]
    phone = kind == "map on a phone"
    with watched(browser) as window:
        page = window.page
        page.set_viewport_size(PHONE if phone else WIDE)
        window.open(site / path)
        page.evaluate(UNFOLD)
        pane, link = page.locator(PANE), page.locator(links).first
        for act in ("keyboard", "mouse"):
            link.scroll_into_view_if_needed()
            place = page.evaluate("scrollY")
            if act == "keyboard":
                link.focus()
                page.keyboard.press("Enter")
            else:
                link.click()
            pane.wait_for(state="visible")
            assert pane.locator("h2").inner_text().startswith(f"glasstorch/{caption}")
            assert (
                pane.locator("pre")
                .inner_text()
                .lstrip()
                .removeprefix('@AUTOGRAD.impl("add.Tensor")\n')
                .startswith(begins)
            )
            assert pane.evaluate("pane => pane.contains(document.activeElement)")
            page.keyboard.press("Escape")
            pane.wait_for(state="hidden")
            assert link.evaluate("link => link === document.activeElement")
            assert page.evaluate("scrollY") == place
        for size in (PHONE,) if phone or kind == "map" else (WIDE, PHONE):
            page.set_viewport_size(size if kind != "map" else WIDE)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert violations(window, axe, COLOURS) == []
                link.click()
                pane.wait_for(state="visible")
                assert violations(window, axe, COLOURS) == []
                page.keyboard.press("Escape")
                pane.wait_for(state="hidden")
        link.click()
        with page.expect_navigation():
            pane.get_by_role("link", name="Its page in the reference").click()
        assert "/reference/api/" in page.url
        assert window.problems == []


def test_a_box_that_is_pointed_at_or_reached_is_marked_and_keeps_its_look(browser: Any, site: Path) -> None:
    stroke = "link => getComputedStyle(link.querySelector('.g-box')).stroke"
    fill = "link => getComputedStyle(link.querySelector('text')).fill"
    with watched(browser) as window:
        page = window.page
        window.open(site / "00-start/one-backward.html")
        page.evaluate(UNFOLD)
        link = page.locator(FIGURE).first
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.mouse.move(1, 1)
            page.evaluate("document.activeElement.blur()")
            drawn, words = link.evaluate(stroke), link.evaluate(fill)
            link.hover()
            assert link.evaluate(stroke) != drawn
            page.mouse.move(1, 1)
            assert link.evaluate(stroke) == drawn
            link.evaluate("link => link.focus({focusVisible: true})")
            assert link.evaluate(stroke) != drawn
            assert link.evaluate(fill) == words
        assert 'role="group"' in page.locator(".glass-figure").first.evaluate(
            "figure => figure.outerHTML.slice(0, 200)"
        )


def test_what_an_exercise_asks_for_is_an_outline_on_disk(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / SECTION)
        window.page.locator(WITHHELD).first.click()
        pane = window.page.locator(PANE)
        pane.wait_for(state="visible")
        assert "# you write this in 07.3" in pane.locator("pre").inner_text()
        assert "The book that make study opens shows it here once" in pane.locator("footer").inner_text()
        assert window.problems == []


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose exercises nobody has begun."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in ("chapters", "reference", "tests", "workbook", "mkdocs.yml", "pyproject.toml"):
        (root / name).symlink_to(ROOT / name)
    readers = shutil.ignore_patterns("answer.py", "my_lab.ipynb", "progress.json*", "kept", "faulty", "__pycache__")
    shutil.copytree(ROOT / "exercises", root / "exercises", ignore=readers)
    return root


def test_the_served_page_shows_it_once_the_exercise_has_passed(browser: Any, site: Path, clone: Path) -> None:
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        page = window.page
        page.goto(f"{address}{SECTION}#key={server.key}", wait_until="load")
        pane, link = page.locator(PANE), page.locator(WITHHELD).first
        link.click()
        pane.get_by_text("It is shown here once the exercise has passed.").wait_for()
        assert "# you write this in 07.3" in pane.locator("pre").inner_text()
        outline = pane.locator("pre").inner_text()
        page.keyboard.press("Escape")
        states.note(clone, find(clone, "07.3"), lambda record: replace(record, passed="2026-01-01"))
        link.click()
        pane.get_by_text("which asks for this.").wait_for()
        text = pane.locator("pre").inner_text()
        assert "you write this in" not in text
        assert len(text.splitlines()) > len(outline.splitlines())
        assert "You have passed 07.3" in pane.locator("footer").inner_text()
        assert [one for one in window.problems if not one.startswith("asked for http:")] == []


def test_a_page_without_the_key_shows_the_outline_though_the_exercise_has_passed(
    browser: Any, site: Path, clone: Path
) -> None:
    states.note(clone, find(clone, "07.3"), lambda record: replace(record, passed="2026-01-01"))
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        window.page.goto(f"{address}{SECTION}", wait_until="load")
        window.page.locator(WITHHELD).first.click()
        pane = window.page.locator(PANE)
        pane.wait_for(state="visible")
        window.page.wait_for_timeout(1500)  # longer than the other tabs are asked for the key
        assert "# you write this in 07.3" in pane.locator("pre").inner_text()
        assert not any("workbook/quotes" in one for one in window.problems)
