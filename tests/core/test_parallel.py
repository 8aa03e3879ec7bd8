"""Is it said how many threads may share a loop?"""

from __future__ import annotations

import os
from typing import Any

import pytest

import glasstorch
from glasstorch.core import parallel


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_chosen", None)


@pytest.mark.parametrize("named", ["", "0", "many", "-1", "2,4"])
def test_without_a_number_as_many_threads_as_processors(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", named)
    assert glasstorch.get_num_threads() == os.cpu_count()


def test_what_is_set_counts_more_than_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert glasstorch.get_num_threads() == 3
    glasstorch.set_num_threads(5)
    assert glasstorch.get_num_threads() == 5


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2"])
def test_only_a_positive_int_can_be_set(torch: Any, number: Any) -> None:
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError, match="set_num_threads expects a"):
        torch.set_num_threads(number)
    assert torch.get_num_threads() == before
