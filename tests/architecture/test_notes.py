"""Does every `Note [Title]` that is cited exist, once?

A story needed in two places is written once, under a comment line that is its title, and cited by that title
from elsewhere. PyTorch has such notes too: `PyTorch's Note [Title]` is not looked for here.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("reference", "workbook")
SUFFIXES = {".py", ".pyi", ".yaml", ".cu", ".cuh", ".h", ".hpp", ".cpp"}

TITLE = re.compile(r"(?P<pytorch>PyTorch's )?Note \[(?P<title>[^\]]*)(?P<end>\])?")
WRITTEN = re.compile(r"\s*(#|//) Note \[[^\]]+\]\s*$")


def problems(texts: dict[str, str]) -> list[str]:
    """What is wrong with the notes in these texts, given by file name."""
    written: Counter[str] = Counter()
    cited: dict[str, str] = {}
    found = []
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            for match in TITLE.finditer(line):
                place, title = f"{name}:{number}", match["title"]
                if match["pytorch"]:
                    continue
                if not match["end"]:
                    found.append(f"{place}: the title of a note is broken over two lines")
                elif WRITTEN.match(line):
                    written[title] += 1
                else:
                    cited[title] = place
    found += [f"{place}: there is no Note [{title}]" for title, place in cited.items() if not written[title]]
    found += [f"Note [{title}] is written {times} times" for title, times in written.items() if times > 1]
    found += [f"Note [{title}] is cited nowhere" for title in written if title not in cited]
    return found


def test_every_note_is_written_once_and_cited() -> None:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES]
    assert problems({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("# Note [A]\n# a story\n\nx = 1  # see Note [A]\n", 0),
        ("// Note [A]\n// a story\n/* see Note [A]. */\n", 0),
        ("# see PyTorch's Note [B]\n", 0),
        ("# see Note [A]\n", 1),
        ("# Note [A]\n", 1),
        ("# Note [A]\n# Note [A]\n# see Note [A]\n", 1),
        ("# Note [A]\n# see Note [A]\n# see Note [A\n# story]\n", 1),
    ],
)
def test_a_note_out_of_place_is_found(text: str, count: int) -> None:
    assert len(problems({"file.py": text})) == count
