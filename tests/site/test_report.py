"""Does the page on a compilation open from disk, and does a line of the program light up its lines in each stage?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from tests.site.looking import PHONE, WIDE, Watched, violations, watched

pytestmark = [
    pytest.mark.ci,
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="bytecode of CPython 3.11 only"),
]


def f(x: Any, w: Any) -> Any:
    y = glasstorch.sin(x) * 2
    print(end="</script><b>")
    return glasstorch.softmax(y@w,-1).sum()*len("a_word_that_is_wider_than_any_phone_is")  # fmt: skip


@pytest.fixture(scope="module")
def window(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """The page, open; nothing went wrong on it until the end."""
    x, w = glasstorch.randn(8, 4, requires_grad=True), glasstorch.randn(4, 3, requires_grad=True)
    path: Path = glasstorch.compiler.report(f, x, w, path=tmp_path_factory.mktemp("report") / "page.html")
    with watched(browser) as seen:
        seen.page.set_viewport_size(WIDE)
        seen.page.goto(path.as_uri())
        yield seen
        assert seen.problems == []


def chosen(window: Watched, title: str) -> list[str]:
    """The lines of a stage that are lit."""
    found = window.page.locator(".parts details", has=window.page.locator(f"summary:has-text('{title}')"))
    return [text.strip() for text in found.first.locator(".chosen").all_inner_texts()]


def test_a_line_of_the_program_lights_up_its_lines_in_every_stage(window: Watched) -> None:
    line = window.page.locator(".source", has_text="y = glasstorch.sin(x) * 2")
    line.click()
    assert line.get_attribute("aria-pressed") == "true"
    assert [text.partition(" = ")[0] for text in chosen(window, "Captured graph")] == ["sin", "y"]
    assert any("CALL" in text for text in chosen(window, "Bytecode, symbolically"))
    assert any("TENSOR_MATCH" in text and "L['x']" in text for text in chosen(window, "Guards"))
    assert any("aten.cos.default" in text for text in chosen(window, "Joint graph"))
    assert any("sin(" in text for text in chosen(window, "Loops, forward"))
    assert any("elementary::sinf(" in text for text in chosen(window, "C++, forward"))
    assert not any("softmax" in text for text in chosen(window, "Joint graph"))
    assert "lines in" in window.page.locator("#said").inner_text()
    line.click()  # again: nothing is chosen
    assert window.page.locator(".chosen").count() == 0


def test_a_line_of_the_cpp_lights_up_the_line_that_it_comes_from(window: Watched) -> None:
    window.page.locator("button.stage", has_text="elementary::cosf(").first.click()
    lit = window.page.locator(".source.chosen").all_inner_texts()
    assert [text.split(maxsplit=1)[1].strip() for text in lit] == ["y = glasstorch.sin(x) * 2"]
    window.page.keyboard.press("Escape")
    assert window.page.locator(".chosen").count() == 0


def test_the_keyboard_reaches_lines_and_chooses_them(window: Watched) -> None:
    page = window.page
    page.locator(".source").first.focus()
    page.keyboard.press("ArrowDown")
    assert "glasstorch.sin" in page.evaluate("document.activeElement.innerText")
    assert page.locator(".near").count() > 1
    page.keyboard.press("Enter")
    assert page.locator(".stage.chosen").count() > 5
    page.keyboard.press("Escape")


def test_text_of_the_program_is_no_markup(window: Watched) -> None:
    assert window.page.locator(".source", has_text="</script><b>").count() == 1
    assert window.page.locator("b").count() == 0


def test_the_page_asks_nobody_and_fits_every_window(window: Watched, axe: str) -> None:
    window.page.locator(".source", has_text="glasstorch.softmax").click()
    for size in (PHONE, WIDE):
        window.page.set_viewport_size(size)
        assert window.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for scheme in ("dark", "light"):
        window.page.emulate_media(color_scheme=scheme)
        window.page.locator(".source", has_text="glasstorch.sin").click()
        assert violations(window, axe) == []
        window.page.keyboard.press("Escape")
