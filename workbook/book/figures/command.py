"""How are the committed figures of a folder drawn, or checked?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from workbook.book.errors import BookError
from workbook.book.project import project_root, shown

Drawn = Callable[[Path], Mapping[Path, str]]  # the clone's folder -> the path and the content of each figure


def stale(drawn: Mapping[Path, str]) -> list[Path]:
    """The figure files that are missing or out of date."""
    return [path for path, svg in drawn.items() if not path.is_file() or path.read_text(encoding="utf-8") != svg]


def run(module: str, description: str, draw: Drawn, arguments: Sequence[str] | None = None) -> int:
    """Run `python -m MODULE [--check]`; returns 0 if every figure is up to date afterwards."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--check", action="store_true", help="only say which committed figures are not fresh")
    options = parser.parse_args(arguments)
    try:
        figures = draw(project_root())
    except BookError as error:
        print(error, file=sys.stderr)
        return 1
    if options.check:
        late = stale(figures)
        for path in late:
            print(f"{shown(path)}: not as it would be drawn now\n  run: python -m {module}", file=sys.stderr)
        return 1 if late else 0
    for path, svg in figures.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg, encoding="utf-8", newline="\n")
        print(f"drawn  {shown(path)}")
    return 0
