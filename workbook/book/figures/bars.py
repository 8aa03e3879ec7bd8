"""How large are some numbers beside each other?

Horizontal bars from 0 on a common scale, in the order in which they are given, each with its number: bytes, counts,
ratios. Times do not belong here: they differ from run to run, and a committed figure has the same bytes each time.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbook.book.figures.kit import Figure, text_width

SIZE, ROW, BAR = 12.5, 26, 16
LONGEST, GAP = 300, 10  # of a bar; between a name, its bar and its number
MOST = 16


def draw(numbers: Mapping[str, float], unit: str) -> Figure:
    """A bar for each number; the unit stands above them."""
    if not 0 < len(numbers) <= MOST or min(numbers.values()) < 0:
        raise ValueError(
            f"a figure holds 1 to {MOST} bars of numbers that are not negative, got {dict(numbers)}; print them instead"
        )
    written = {name: f"{value:,.6g}" if value < 1e6 else f"{value:,.0f}" for name, value in numbers.items()}
    left = 1.1 * max(text_width(name, SIZE) for name in numbers) + GAP
    right = max(text_width(text, SIZE) for text in written.values()) + GAP
    largest = max(numbers.values()) or 1
    told = "; ".join(f"{name}: {text}" for name, text in written.items())
    figure = Figure("bars", unit, f"{told}.", left + LONGEST + right, ROW * (len(numbers) + 1))
    figure.text(left, 14, unit, size=SIZE, colour="soft")
    for row, (name, value) in enumerate(numbers.items(), start=1):
        y, length = ROW * row, LONGEST * value / largest
        figure.text(left - GAP, y + 13, name, size=SIZE, anchor="end")
        figure.box(left, y, max(length, 1), BAR, kind="glass", radius=2)
        figure.text(left + length + GAP, y + 13, written[name], size=SIZE, colour="soft")
    return figure
