"""Does each process draw its part of the indices, as PyTorch's sampler does?"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from glasstorch.utils.data.distributed import DistributedSampler
from tests.data.loaders import data_of


def drawn(library: ModuleType, size: int, count: int, **options: Any) -> list[Any]:
    """The indices of each process, at two epochs."""
    found = []
    for rank in range(count):
        sampler = data_of(library).DistributedSampler(range(size), count, rank, **options)
        first = list(sampler)
        sampler.set_epoch(3)
        found += [first, list(sampler), len(sampler), sampler.total_size]
    return found


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("drop_last", [True, False])
def test_parts_are_those_of_torch(shuffle: bool, drop_last: bool, require: Callable[[str], ModuleType]) -> None:
    torch, glasstorch = require("torch"), require("glasstorch")
    options = {"shuffle": shuffle, "drop_last": drop_last, "seed": 5}
    for size, count in itertools.product((1, 2, 7, 12), (1, 3, 4)):
        assert drawn(glasstorch, size, count, **options) == drawn(torch, size, count, **options)


def test_every_sample_is_drawn_by_some_process() -> None:
    parts = [set(DistributedSampler(range(10), 3, rank)) for rank in range(3)]  # type: ignore[arg-type]
    assert set().union(*parts) == set(range(10))


def test_a_process_must_say_which_it_is(torch: Any) -> None:
    sampler = data_of(torch).DistributedSampler
    with pytest.raises(ValueError, match=r"Invalid rank 2, rank should be in the interval \[0, 1\]"):
        sampler(range(3), 2, 2)
    with pytest.raises((RuntimeError, ValueError)):
        sampler(range(3))
