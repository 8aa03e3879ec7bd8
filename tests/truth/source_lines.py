"""On which line of PyTorch's source does each symbol stand that the book names?

Reads the files that the installed wheel holds, and writes their line numbers (and nothing else of them) to
`source_lines.json`: `python -m tests.truth.source_lines`.
"""

from __future__ import annotations

import json
from pathlib import Path

from workbook.book.contents import sections
from workbook.book.source_links import rows
from workbook.book.source_map import places

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "source_lines.json"
GUARD = "#if !defined(TORCH_STABLE_ONLY)"  # the build puts this line above each header of the wheel


def named(root: Path) -> dict[str, set[str]]:
    """The symbols that the source map and the sections' tables name, by path."""
    found: dict[str, set[str]] = {}
    for place in (place for entries in places(root).values() for place in entries):
        found.setdefault(place.path, set()).add(place.symbol)
    for section in sections(root):
        for row in rows((root / "chapters" / section.path).read_text(encoding="utf-8")):
            found.setdefault(row["path"], set()).add(row["symbol"])
    return found


def line_of(text: str, symbol: str) -> int | None:
    """The line on which a symbol stands first, by the repository's count; None where it is not in the text."""
    lines = text.splitlines()
    number = next((number for number, line in enumerate(lines, 1) if symbol in line), None)
    return None if number is None else number - lines[0].startswith(GUARD)


def source_lines(root: Path, package: Path) -> dict[str, dict[str, int]]:
    """The lines of all symbols in files that the wheel holds; `package` is its torch folder."""
    wheel = {place.path: place.in_wheel for entries in places(root).values() for place in entries if place.in_wheel}
    found = {}
    for path, symbols in sorted(named(root).items()):
        if path in wheel:
            text = (package / str(wheel[path])).read_text(encoding="utf-8")
            numbers = {symbol: line_of(text, symbol) for symbol in sorted(symbols)}
            found[path] = {symbol: number for symbol, number in numbers.items() if number is not None}
    return found


def write(root: Path, package: Path) -> None:
    """Write the file."""
    FILE.write_text(json.dumps(source_lines(root, package), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import torch

    write(ROOT, Path(torch.__file__).parent)
