"""Are the places of equal elements those that the algorithms of the C++ library leave behind?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu.sorting.equal_elements import (
    FOLLOWED_UP_TO,
    INSERTION_SORTED,
    nth_element,
    partial_sort,
    quick_select,
    topk,
    unstable_sort,
)

Require = Callable[[str], Any]
RANDOM = np.random.default_rng(5)
SIZES = (1, 2, 3, 4, 7, 10, 16, 17, 40, 300, 1500)
CALLS: list[tuple[str, Callable[[int], tuple[Any, ...]]]] = [
    ("kthvalue", lambda n: ((n + 1) // 2,)),
    ("median", lambda n: (0,)),
    ("nanmedian", lambda n: (0,)),
    ("mode", lambda n: ()),
    ("topk", lambda n: ((n + 2) // 3,)),
    ("topk", lambda n: (n, 0, False)),
    ("topk", lambda n: (max(n // 64, 1), 0, False)),
    ("topk", lambda n: (max(n // 70, 1), 0, True, False)),
    ("topk", lambda n: ((n + 1) // 2, 0, True, False)),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("name", "arguments"), CALLS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_places_are_pytorchs(require: Require, size: int, name: str, arguments: Any, missing: float) -> None:
    torch = require("torch")
    for _ in range(8):
        data = RANDOM.integers(0, max(2, size // 2), size).astype(np.float32)
        if name != "mode":  # where PyTorch compares NaN in a way that leaves the order to chance
            data[RANDOM.random(size) < missing] = np.nan
        ours, theirs = (
            getattr(library, name)(library.from_numpy(data), *arguments(size)) for library in (glasstorch, torch)
        )
        np.testing.assert_array_equal(ours[0].numpy(), theirs[0].numpy())
        assert ours[1].tolist() == theirs[1].tolist(), data


@pytest.mark.parametrize("size", SIZES)
def test_each_algorithm_puts_the_ranks_asked_for_in_their_places(size: int) -> None:
    keys = RANDOM.integers(0, max(2, size // 2), size).tolist()
    in_order = sorted(keys)
    for rank in range(0, size, max(size // 50, 1)):
        for select in (nth_element, quick_select):
            places = select(keys, rank)
            assert sorted(places) == list(range(size))
            assert keys[places[rank]] == in_order[rank]
        for first in (topk(keys, rank + 1, True), partial_sort(keys, rank + 1)):
            assert [keys[place] for place in first] == in_order[: rank + 1]
        assert sorted(keys[place] for place in topk(keys, rank + 1, False)) == in_order[: rank + 1]
    assert [keys[place] for place in unstable_sort(keys)] == in_order


def test_few_elements_are_sorted_stably_and_more_are_not() -> None:
    assert unstable_sort([0] * INSERTION_SORTED) == list(range(INSERTION_SORTED))
    assert unstable_sort([0] * (INSERTION_SORTED + 1)) != list(range(INSERTION_SORTED + 1))


def test_few_of_many_equal_elements_are_the_first(require: Require) -> None:
    for t in (glasstorch, require("torch")):
        assert t.zeros(200).topk(3).indices.tolist() == [0, 1, 2]
        assert t.zeros(191).topk(3).indices.tolist() != [0, 1, 2]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_in_large_tensors_a_place_holds_the_value(name: str, arguments: Any) -> None:
    data = RANDOM.integers(0, 9, 2 * FOLLOWED_UP_TO)
    values, places = getattr(glasstorch, name)(glasstorch.from_numpy(data), *arguments(data.size))
    np.testing.assert_array_equal(data[places.numpy()], values.numpy())


@pytest.mark.parametrize(
    ("rows", "kth", "most_frequent"), [(204, 16, 1), (3300, 0, 19)]
)  # of 4,080 and 66,000 elements
def test_the_size_of_the_tensor_decides_for_all_of_its_rows(rows: int, kth: int, most_frequent: int) -> None:
    zeros = glasstorch.zeros(rows, 20)
    assert zeros.kthvalue(1).indices.unique().tolist() == [kth]
    assert zeros.mode().indices.unique().tolist() == [most_frequent]
