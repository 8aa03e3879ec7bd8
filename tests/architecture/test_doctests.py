"""Do the examples in the docstrings show what happens?"""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ((ROOT / "reference", "glasstorch"), (ROOT, "workbook"))
WITH_EXAMPLES = [
    ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")
    for base, package in SOURCES
    for path in sorted((base / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_a_module(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0
