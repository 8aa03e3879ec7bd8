"""What several tests of distributions need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import glasstorch


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Inside the test, distributions of ours check neither parameters nor values."""
    kind = glasstorch.distributions.Distribution
    before = kind._validate_args
    kind.set_default_validate_args(False)
    yield
    kind.set_default_validate_args(before)
