"""What holds for every test of autograd."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from glasstorch.autograd import shortcuts
from glasstorch.dispatch.operator import registry


@pytest.fixture(autouse=True)
def _tables_that_ask_nothing() -> Iterator[None]:
    """A test that lets views remember their operators leaves tables that ask in each call whether to remember.

    `view_replay.remember_from_now_on` changes them for good: the next test finds them as an import leaves them.
    """
    yield
    if registry.shorten is not shortcuts.shortened:
        registry.shorten = shortcuts.shortened
        registry.changed()
