"""What the operators' tests share: each runs on glasstorch and, where it is installed, on PyTorch.

A test that passes on both states a fact about PyTorch that glasstorch has too. What is true of ours alone asks for no
`torch` and imports glasstorch by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(params=["glasstorch", "torch"])
def torch(request: pytest.FixtureRequest, require: Callable[[str], Any]) -> Any:
    """The library under test."""
    return require(request.param)
