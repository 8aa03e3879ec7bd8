"""Is the map of PyTorch's tree in chapter 01 true: the sizes in the wheel, and the places in this library?

What every section has to keep to is in test_sections.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.book.small_book import ROOT
from tests.book.test_sections import text_of
from workbook.book.house import PACKAGE

ROW = re.compile(r"^> \| `(?P<folder>[^`]+)` \| [^|]+ \| (?P<ours>[^|]+) \| [^|]+ \| (?P<size>[^|]+) \|$", re.MULTILINE)
SIZE = re.compile(r"(?P<files>[\d,]+) (?P<kind>headers?|files), (?P<lines>[\d,]+) lines")
HEADERS = (".h", ".hpp", ".cuh")
IN_WHEEL = (("aten/src/ATen/", "include/ATen/"), ("torch/csrc/", "include/torch/csrc/"), ("c10/", "include/c10/"))


class Entry(NamedTuple):
    """A row of the map."""

    folder: str
    ours: str
    size: str


MAP = [Entry(**row.groupdict()) for row in ROW.finditer(text_of("01-architecture/where-things-live"))]


def in_wheel(folder: str) -> str:
    """Where the wheel has a folder of the repository, from the package's own folder."""
    for there, here in IN_WHEEL:
        if folder.startswith(there):
            return here + folder.removeprefix(there)
    return f"../{folder}" if folder == "torchgen/" else folder.removeprefix("torch/")


def test_the_map_has_every_part_of_the_tree() -> None:
    assert len(MAP) > 30
    assert {entry.folder.partition("/")[0] for entry in MAP} == {"c10", "aten", "torch", "torchgen", "tools"}
    assert [entry.folder for entry in MAP if not SIZE.fullmatch(entry.size)] == ["tools/autograd/"]


@pytest.mark.parametrize("entry", MAP, ids=lambda entry: entry.folder)
def test_what_is_ours_is_there(entry: Entry) -> None:
    names = re.findall(r"`([^`]+)`", entry.ours)
    assert names or entry.ours.strip() == "-"
    assert [name for name in names if not (ROOT / PACKAGE / name).exists()] == []


@pytest.mark.parametrize("entry", [entry for entry in MAP if SIZE.fullmatch(entry.size)], ids=lambda e: e.folder)
def test_a_size_is_that_of_the_wheel(entry: Entry, require: Callable[[str], Any]) -> None:
    said = SIZE.fullmatch(entry.size)
    assert said is not None
    endings = HEADERS if said["kind"].startswith("header") else (".py", ".pyi")
    folder = Path(require("torch").__file__).parent / in_wheel(entry.folder)
    files = [file for file in folder.rglob("*") if file.suffix in endings and file.is_file()]
    lines = sum(len(file.read_bytes().splitlines()) for file in files)
    assert (len(files), lines) == (int(said["files"].replace(",", "")), int(said["lines"].replace(",", "")))
