"""The three parts of Glass Torch, and what passes between them."""

from __future__ import annotations

from pathlib import Path

from workbook.book.figures.kit import Figure

WIDTH, HEIGHT = 436, 318  # a phone shows it whole
BOX, TALL = 184, 58
LEFT, MIDDLE, RIGHT = 1, (WIDTH - BOX) / 2, WIDTH - BOX - 1
PYTORCH, LIBRARY, READER = 1, 118, 258


def draw(root: Path) -> Figure:
    """The library in the middle, PyTorch above it, the book and the exercises below."""
    figure = Figure(
        "three-parts",
        "The three parts of Glass Torch",
        "The library stands in the middle. PyTorch 2.13 above it: both run the same programs and their "
        "outputs are compared. The book, lower left, quotes and runs the library. The exercises, lower right: "
        "what you write takes the place of a piece of the library. The book leads to the exercises.",
        WIDTH,
        HEIGHT,
    )
    part(figure, MIDDLE, PYTORCH, "PyTorch 2.13", "the thing to be understood", "torch")
    part(figure, MIDDLE, LIBRARY, "the library", "the same, made to be read", "glass")
    part(figure, LEFT, READER, "the book", "you predict, run, break", "plain")
    part(figure, RIGHT, READER, "the exercises", "you write a piece of it", "plain")

    middle = WIDTH / 2
    figure.arrow([(middle - 12, LIBRARY - 2), (middle - 12, PYTORCH + TALL + 2)], colour="glass")
    figure.arrow([(middle + 12, PYTORCH + TALL + 2), (middle + 12, LIBRARY - 2)], colour="torch")
    figure.text(middle + 28, PYTORCH + TALL + 26, "same programs,", size=12.5, colour="soft")
    figure.text(middle + 28, PYTORCH + TALL + 43, "outputs compared", size=12.5, colour="soft")

    below = LIBRARY + TALL
    figure.arrow([(MIDDLE + 30, below + 2), (LEFT + BOX / 2, READER - 2)], colour="glass")
    figure.text(LEFT, below + 24, "is quoted and run in", size=12.5, colour="soft")
    figure.arrow([(RIGHT + BOX / 2, READER - 2), (MIDDLE + BOX - 30, below + 2)], colour="glass")
    figure.text(RIGHT + BOX, below + 24, "your piece goes in", size=12.5, colour="soft", anchor="end")
    figure.arrow([(LEFT + BOX + 4, READER + TALL / 2), (RIGHT - 4, READER + TALL / 2)], colour="glass")
    figure.text(middle, READER + TALL / 2 - 8, "leads to", size=12.5, colour="soft", anchor="middle")
    return figure


def part(figure: Figure, x: float, y: float, name: str, what: str, kind: str) -> None:
    """One box: a name and what it is to the reader."""
    colour = kind if kind in ("glass", "torch") else "ink"
    figure.box(x, y, BOX, TALL, kind=kind)
    figure.text(x + BOX / 2, y + 25, name, size=15, colour=colour, anchor="middle", bold=True)
    figure.text(x + BOX / 2, y + 44, what, size=12.5, colour="soft", anchor="middle", room=BOX - 8)
