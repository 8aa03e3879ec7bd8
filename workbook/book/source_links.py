"""How does a row about PyTorch's source lead to the place that it names?

In the text of a section a row of "In PyTorch's source" names a file and a symbol. On the page the file is a link to it,
at the tag of the release, and to the symbol's line where the wheel holds the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from workbook.book.source_map import address_of

ROW: Final = re.compile(
    r"^(?P<quoted>> )?\| `(?P<path>[^`|]+)`, `(?P<symbol>[^`]+)` \|(?P<says>[^|]+)\|(?P<here>[^|]+)\|$", re.MULTILINE
)
OURS: Final = re.compile(r"`(?P<file>[\w/]+\.py) (?P<symbol>[\w.]+)`")  # of the library, named beside PyTorch's


def linked(markdown: str, lines: Mapping[str, Mapping[str, int]]) -> str:
    """The text with the file of each row a link.

    >>> linked("| `a/b.h`, `f` | how | same |", {"a/b.h": {"f": 7}})
    '| [`a/b.h`](https://github.com/pytorch/pytorch/blob/v2.13.0/a/b.h#L7), `f` | how | same |'
    """

    def with_link(row: re.Match[str]) -> str:
        path, symbol = row["path"], row["symbol"]
        address = address_of(path, lines.get(path, {}).get(symbol))
        return f"{row['quoted'] or ''}| [`{path}`]({address}), `{symbol}` |{row['says']}|{row['here']}|"

    return ROW.sub(with_link, markdown)


def rows(text: str) -> list[re.Match[str]]:
    """The rows below a section's "In PyTorch's source", also those of a table that is folded away."""
    return list(ROW.finditer(text.partition("\n## In PyTorch's source\n")[2].partition("\n## ")[0]))
