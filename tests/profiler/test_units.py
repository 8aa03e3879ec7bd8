"""Are times, sizes and shares written as PyTorch writes them?"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasstorch.profiler.units import format_memory, format_share, format_time
from tests.strategies import steady

Require = Callable[[str], Any]


def util(require: Require) -> Any:
    require("torch")
    return importlib.import_module("torch.autograd.profiler_util")


@steady
@given(st.floats(0, 1e9), st.integers(-(1 << 34), 1 << 34))
def test_times_and_memory_are_written_as_by_pytorch(require: Require, time: float, nbytes: int) -> None:
    theirs = util(require)
    assert format_time(time) == theirs._format_time(time)
    assert format_memory(nbytes) == theirs._format_memory(nbytes)


@steady
@given(st.floats(0, 1e9), st.floats(0.001, 1e9))
def test_shares_are_written_as_by_pytorch(require: Require, part: float, whole: float) -> None:
    assert format_share(part, whole) == util(require)._format_time_share(part, whole)


def test_a_unit_begins_at_one_of_it(require: Require) -> None:
    theirs = util(require)
    for time in (0.0, 999.9999, 1_000.0, 999_999.9, 1_000_000.0):
        assert format_time(time) == theirs._format_time(time)
    for nbytes in (0, 1023, 1024, (1 << 20) - 1, 1 << 20, -1024, 1 << 30):
        assert format_memory(nbytes) == theirs._format_memory(nbytes)


def test_a_time_can_be_asked_for_in_one_unit() -> None:
    assert [format_time(1_500.0, unit) for unit in ("us", "ms", "s", None)] == [
        "1500.000us",
        "1.500ms",
        "0.002s",
        "1.500ms",
    ]


def test_a_share_of_nothing_is_no_number() -> None:
    assert format_share(0, 0) == "NaN"
    with pytest.raises(AssertionError, match="1 is no part of nothing"):
        format_share(1, 0)
