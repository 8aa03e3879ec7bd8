"""How is a row of small images drawn?"""

from __future__ import annotations

from collections.abc import Sequence

from workbook.book.figures.kit import Figure

PIXEL, BETWEEN, ACROSS, LINE = 5, 16, 10, 26
LEVELS = 8  # shades of grey


def draw(pictures: Sequence[Sequence[Sequence[float]]], captions: Sequence[str]) -> Figure:
    """The images side by side, ten in a row, ink on paper in either colour scheme."""
    if not pictures or len(pictures) != len(captions):
        raise ValueError(f"each image needs a caption: got {len(pictures)} images and {len(captions)} captions")
    tall, wide = len(pictures[0]) * PIXEL, len(pictures[0][0]) * PIXEL
    across = min(len(pictures), ACROSS)
    rows = -(-len(pictures) // ACROSS)
    width, height = across * (wide + BETWEEN) - BETWEEN, rows * (tall + LINE)
    told = ", ".join(captions)
    figure = Figure("images", f"{len(pictures)} small images", f"Their captions: {told}.", width, height)
    for number, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        x, y = number % ACROSS * (wide + BETWEEN), number // ACROSS * (tall + LINE)
        figure.pixels(x, y, picture, size=PIXEL, levels=LEVELS)
        figure.text(x + wide / 2, y + tall + 16, caption, size=12, colour="soft", anchor="middle", room=wide + BETWEEN)
    return figure
