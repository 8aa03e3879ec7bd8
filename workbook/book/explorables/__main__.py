"""Draw the static figures of the explorables, or check that the committed ones are fresh."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from workbook.book.explorables.catalogue import drawn
from workbook.book.figures.command import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 if every figure is up to date afterwards."""
    return run("workbook.book.explorables", "Draw the static figures of the explorables.", drawn, arguments)


if __name__ == "__main__":
    sys.exit(main())
