"""No test here is about the warning that says once that invariants are not checked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sparse.quiet import invariants_switched_off


@pytest.fixture(autouse=True)
def _without_the_warning() -> Iterator[None]:
    with invariants_switched_off():
        yield
