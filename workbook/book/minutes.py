"""How many minutes does a careful reader need for a section?

Counted, since a guess drifts while a section grows: the running text at 200 words a minute, a minute and a half for
each prediction, and one minute for each other cell (with what it draws), each table, and each figure that is linked.
`python -m workbook.book.minutes FILE...` compares with what sections state; without a name, all sections.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Final

from workbook.book.contents import sections
from workbook.book.reading import FENCED, FRONT_MATTER, words_of

WORDS_A_MINUTE: Final = 200
FOR_A_PREDICTION, FOR_A_CELL, FOR_A_TABLE, FOR_A_FIGURE = 1.5, 1, 1, 1
STEP: Final = 5  # minutes: what a section states is a multiple of it
MOST: Final = 40  # of one section; what takes longer are two

CELL: Final = re.compile(r"^```\{code-cell\}", re.MULTILINE)
PREDICTION: Final = re.compile(r"^:?tags: \[predict\b", re.MULTILINE)
TABLE: Final = re.compile(r"^(?:> ?)?\|[-:| ]+\|$", re.MULTILINE)  # by the line below its head, also in a fold
FIGURE: Final = re.compile(r"!\[")


def minutes_of(text: str) -> float:
    """The minutes for the text of a section.

    >>> round(minutes_of("A sentence of six words here. " * 100 + "| a |" + chr(10) + "|---|" + chr(10)), 1)
    4.0
    """
    prose = FENCED.sub("\n\n", FRONT_MATTER.sub("", text))
    predictions = len(PREDICTION.findall(text))
    return (
        words_of(text) / WORDS_A_MINUTE
        + FOR_A_PREDICTION * predictions
        + FOR_A_CELL * (len(CELL.findall(text)) - predictions)
        + FOR_A_TABLE * len(TABLE.findall(prose))
        + FOR_A_FIGURE * len(FIGURE.findall(prose))
    )


def to_state(text: str) -> int:
    """What a section has to state: its minutes, rounded up to a multiple of five."""
    return STEP * math.ceil(minutes_of(text) / STEP)


def main(names: list[str]) -> int:
    """Compare what sections state with what they take; the exit code is 1 where one of them differs."""
    root = Path.cwd()
    wrong = 0
    for section in sections(root):
        path = root / "chapters" / section.path
        if not section.minutes or (names and path not in {Path(name).resolve() for name in names}):
            continue
        text = path.read_text(encoding="utf-8")
        differs = section.minutes != to_state(text) or minutes_of(text) > MOST
        wrong += differs
        print(f"{section.path}: states {section.minutes}, takes {minutes_of(text):.1f}{'  <--' if differs else ''}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
