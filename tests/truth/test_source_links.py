"""Does a row about PyTorch's source lead to the line on which its symbol stands?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.truth.source_lines import line_of, source_lines
from workbook.book.source_links import linked
from workbook.book.source_map import RELEASE, REPOSITORY, lines

ROOT = Path(__file__).parents[2]


def test_the_lines_are_those_of_the_installed_wheel(require: Callable[[str], Any]) -> None:
    torch = require("torch")
    assert f"v{torch.__version__.partition('+')[0]}" == RELEASE
    assert lines(ROOT) == source_lines(ROOT, Path(torch.__file__).parent), "run python -m tests.truth.source_lines"


def test_most_symbols_have_a_line() -> None:
    found = lines(ROOT)
    assert sum(len(symbols) for symbols in found.values()) > 200


def test_a_header_of_the_wheel_has_one_line_more_than_the_repository() -> None:
    assert line_of("#if !defined(TORCH_STABLE_ONLY) && x\n#pragma once\nstruct Node {\n", "struct Node") == 2
    assert line_of("import a\n\ndef f():\n", "def f") == 3
    assert line_of("import a\n", "def f") is None


@pytest.mark.parametrize(
    ("row", "seen"),
    [
        (
            "| `a/b.cpp`, `f<T>` | how | same |",
            "[`a/b.cpp`](SOURCE/a/b.cpp), `f<T>`",
        ),
        (
            "> | `a/b.h`, `g` | how | omitted |",
            "> | [`a/b.h`](SOURCE/a/b.h#L3), `g`",
        ),
        ("| a word | how | same |", "| a word | how | same |"),
        ("| `torch.add` | how | same |", "| `torch.add` | how | same |"),
    ],
)
def test_the_file_of_a_row_is_a_link(row: str, seen: str) -> None:
    text = f"Before\n\n{row}\n\nAfter"
    assert seen.replace("SOURCE", f"{REPOSITORY}/{RELEASE}") in linked(text, {"a/b.h": {"g": 3}})
