"""Does executing each section again give the committed notebook, byte for byte?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from workbook.book.notebook_text import notebook_sources
from workbook.book.notebooks import build

IN_CI = os.environ.get("CI", "").lower() == "true"


@pytest.mark.ci
@pytest.mark.skipif(not IN_CI, reason="bytes are compared in CI only: an output may differ between platforms")
@pytest.mark.parametrize("source", notebook_sources(ROOT), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_rebuilt_notebook_equals_the_committed_one(source: Path) -> None:
    assert [str(problem) for problem in build([source], ROOT, check=True)] == []
