"""Does executing each section again give the committed notebook, byte for byte?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.book.small_book import ROOT
from workbook.book.notebook_text import notebook_sources
from workbook.book.notebooks import build

IN_CI = os.environ.get("CI", "").lower() == "true"


def parameter(source: Path) -> Any:
    """A source. A lab sheet is executed where its exercise's solution is judged; `make test-all` builds it again."""
    name = source.relative_to(ROOT).as_posix()
    return pytest.param(source, id=name, marks=[pytest.mark.slow] if name.startswith("exercises/") else [])


@pytest.mark.ci
@pytest.mark.skipif(not IN_CI, reason="bytes are compared in CI only: an output may differ between platforms")
@pytest.mark.parametrize("source", [parameter(source) for source in notebook_sources(ROOT)])
def test_a_rebuilt_notebook_equals_the_committed_one(source: Path) -> None:
    assert [str(problem) for problem in build([source], ROOT, check=True)] == []
