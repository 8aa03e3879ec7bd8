"""A small book of its own for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.book.small_book import SmallBook
from tests.jit.conftest import every_graph_comes_back_from_its_text as every_graph_comes_back_from_its_text


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallBook:
    """An empty book in a folder of its own, which is the current one."""
    small = SmallBook(tmp_path / "book")
    monkeypatch.chdir(small.root)
    return small
