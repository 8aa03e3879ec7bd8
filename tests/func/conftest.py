"""What do the tests of transforms share?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def quiet(torch: Any) -> Iterator[None]:
    """Without warnings: what PyTorch imports for forward mode, and its loops, warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def refused() -> Callable[[Callable[[], Any]], str]:
    """The words in which a call is refused."""

    def words(call: Callable[[], Any]) -> str:
        with pytest.raises(Exception) as error:
            call()
        return str(error.value)

    return words
