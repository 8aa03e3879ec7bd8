"""What the architecture tests share."""

from __future__ import annotations

import json

import pytest

from tests.architecture.names import DATA, Names


@pytest.fixture(scope="session")
def torch_names() -> dict[str, Names]:
    """The public names of the pinned torch, by namespace."""
    names: dict[str, Names] = json.loads(DATA.read_text(encoding="utf-8"))
    return names
