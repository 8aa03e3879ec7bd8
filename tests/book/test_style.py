"""Can everything that the book's style colours be read, in light and in dark?"""

from __future__ import annotations

import re

import pytest

from tests.book.small_book import ROOT

ENOUGH = 4.5  # the contrast that WCAG 2 asks of text
CSS = (ROOT / "chapters" / "assets" / "extra.css").read_text(encoding="utf-8")
GROUNDS = {
    "paper": ("ink", "soft", "glass", "torch", "alarm"),
    "pane": ("ink", "soft", "glass", "code-keyword", "code-string", "code-number", "code-function", "code-comment"),
    "glass-tint": ("ink", "soft", "glass"),
    "torch-tint": ("ink", "soft", "torch"),
    "alarm-tint": ("ink", "soft", "alarm"),
}


def colours(scheme: str) -> dict[str, str]:
    """The colours that the style gives a scheme."""
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] {{(.*?)}}', CSS, re.DOTALL)
    assert block is not None
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[1]))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1, the same colour, to 21, black on white."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_what_wcag_says_it_is() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["default", "slate"])
@pytest.mark.parametrize(("ground", "ink"), [(ground, ink) for ground, inks in GROUNDS.items() for ink in inks])
def test_text_stands_out_from_its_ground(scheme: str, ground: str, ink: str) -> None:
    palette = colours(scheme)
    assert contrast(palette[ink], palette[ground]) >= ENOUGH


def test_both_schemes_define_the_same_colours() -> None:
    assert colours("default").keys() == colours("slate").keys()
