"""What the tests of autocast share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from glasstorch.amp.casts import clear_autocast_cache
from glasstorch.amp.settings import keeps_casts, lower_precision, nesting
from glasstorch.dispatch.active_keys import active_keys
from tests.devices.devices import cuda as cuda
from tests.devices.devices import cuda_of_module as cuda_of_module


@pytest.fixture(autouse=True)
def autocast_is_left_as_it_was_found() -> Iterator[None]:
    """A test that fails inside a block does not leave autocast on for the next."""
    variables = (active_keys, keeps_casts, lower_precision, nesting)
    before = [variable.get() for variable in variables]
    yield
    after = [variable.get() for variable in variables]
    for variable, value in zip(variables, before, strict=True):
        variable.set(value)
    clear_autocast_cache()
    assert after == before
