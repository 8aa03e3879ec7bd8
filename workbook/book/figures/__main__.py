"""Draw the book's figures, or check that the committed ones are fresh."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from workbook.book.figures import house_map, three_parts
from workbook.book.figures.command import run
from workbook.book.figures.kit import Figure

FOLDER = Path("chapters") / "assets" / "figures"
FIGURES: tuple[Callable[[Path], Figure], ...] = (house_map.draw, three_parts.draw)


def drawn(root: Path) -> dict[Path, str]:
    """The path and the content of each figure."""
    figures = [draw(root) for draw in FIGURES]
    return {root / FOLDER / f"{figure.name}.svg": figure.svg() for figure in figures}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 if every figure is up to date afterwards."""
    return run("workbook.book.figures", "Draw the book's figures.", drawn, arguments)


if __name__ == "__main__":
    sys.exit(main())
