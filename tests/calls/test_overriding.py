"""Do programs that answer calls hear of the same calls, in the same order, as in PyTorch?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.calls.answering import PROGRAMS

Require = Callable[[str], Any]


def heard(torch: Any, name: str) -> list[Any]:
    """What a program tells of a library."""
    log: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PROGRAMS[name](torch, log)
    return [str(line).replace("glasstorch", "torch") for line in log]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_hears_what_it_hears_in_pytorch(name: str, require: Require) -> None:
    torch = require("torch")
    assert heard(glasstorch, name) == heard(torch, name)
