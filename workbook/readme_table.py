"""How do the last benchmarks get into README.md?

`python -m benchmarks kept` prints the numbers that were kept last as Markdown. They stand between two comments in
README.md:

    python -m benchmarks kept | python -m workbook.readme_table README.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

BEGIN = "<!-- benchmarks: begin (written by `make bench`) -->"
END = "<!-- benchmarks: end -->"


class TableError(Exception):
    """The table cannot be put into the file. The message says why."""


def replaced(text: str, table: str) -> str:
    """The text with the table between its two comments.

    >>> print(replaced(f"before\\n{BEGIN}\\nold\\n{END}\\nafter", "new"))
    before
    <!-- benchmarks: begin (written by `make bench`) -->
    <BLANKLINE>
    new
    <BLANKLINE>
    <!-- benchmarks: end -->
    after
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise TableError(
            "there is no place for the table: it needs these two lines, once each and in this order\n"
            f"  {BEGIN}\n  {END}"
        )
    if not table.strip():
        raise TableError("the benchmarks printed no table; they print it as Markdown on standard output")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{table.strip()}\n\n{END}{after}"


def replace_in(path: Path, table: str) -> bool:
    """Put the table into the file. Returns whether that changed it."""
    text = path.read_text(encoding="utf-8")
    try:
        new = replaced(text, table)
    except TableError as error:
        raise TableError(f"{path.name}: {error}") from error
    path.write_text(new, encoding="utf-8", newline="\n")
    return new != text


def main(arguments: Sequence[str]) -> int:
    """Read the table from standard input and put it into the named file. Returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m benchmarks kept | python -m workbook.readme_table README.md", file=sys.stderr)
        return 2
    try:
        replace_in(Path(arguments[0]), sys.stdin.read())
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
