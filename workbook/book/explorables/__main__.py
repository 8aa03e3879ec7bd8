"""Draw the static figures of the explorables, or check that the committed ones are fresh."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from workbook.book.errors import BookError
from workbook.book.explorables.catalogue import drawn
from workbook.book.project import project_root, shown


def stale(root: Path) -> list[Path]:
    """The figure files that are missing or out of date."""
    return [path for path, svg in drawn(root).items() if not path.is_file() or path.read_text(encoding="utf-8") != svg]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 if every figure is up to date afterwards."""
    parser = argparse.ArgumentParser(
        prog="python -m workbook.book.explorables", description="Draw the static figures of the explorables."
    )
    parser.add_argument("--check", action="store_true", help="only say which committed figures are not fresh")
    options = parser.parse_args(arguments)
    try:
        root = project_root()
    except BookError as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        late = stale(root)
        for path in late:
            advice = "run: python -m workbook.book.explorables"
            print(f"{shown(path)}: not as it would be drawn now\n  {advice}", file=sys.stderr)
        return 1 if late else 0
    for path, svg in drawn(root).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg, encoding="utf-8", newline="\n")
        print(f"drawn  {shown(path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
