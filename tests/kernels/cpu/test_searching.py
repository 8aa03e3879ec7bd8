"""Are elements looked up in sequences, buckets and among others as PyTorch looks them up?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN = float("nan")
RANDOM = np.random.default_rng(2)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("last", [3.0, NAN])
def test_places_in_a_sequence_are_pytorchs(require: Require, side: str, last: float) -> None:
    sequence, values = np.array([1.0, 2, 2, 3, last]), np.array([[0.0, 2, 2.5], [3, NAN, 9]])
    ours, theirs = (
        library.searchsorted(library.from_numpy(sequence), library.from_numpy(values), side=side).numpy()
        for library in (glasstorch, require("torch"))
    )
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("shape", [(5,), (1,), (0,), (3, 4, 5), (9000, 7), (2, 0), (2, 3, 0)])
def test_each_row_of_values_is_looked_up_in_its_row(require: Require, side: str, shape: tuple[int, ...]) -> None:
    sequence, values = np.sort(RANDOM.integers(0, 9, shape), -1), RANDOM.integers(-1, 11, (*shape[:-1], 6))
    ours, theirs = (
        library.searchsorted(library.from_numpy(sequence), library.from_numpy(values), side=side).numpy()
        for library in (glasstorch, require("torch"))
    )
    np.testing.assert_array_equal(ours, theirs)


def test_a_sorter_says_where_the_sequence_continues() -> None:
    sequence, sorter = glasstorch.tensor([[3, 1, 2], [6, 4, 5]]), glasstorch.tensor([[1, 2, 0], [1, 2, 0]])
    found = glasstorch.searchsorted(sequence, glasstorch.tensor([[2, 9], [4, 6]]), sorter=sorter)
    assert found.tolist() == [[1, 3], [0, 2]]


def test_buckets_are_places_between_boundaries(require: Require) -> None:
    for library in (glasstorch, require("torch")):
        x, boundaries = library.tensor([[0.0, 1.0], [5.0, NAN]]), library.tensor([1.0, 3.0, 5.0])
        assert library.bucketize(x, boundaries).tolist() == [[0, 0], [2, 3]]
        assert library.bucketize(x, boundaries, right=True).tolist() == [[0, 1], [3, 3]]
        assert library.bucketize(2, boundaries, out_int32=True).dtype is library.int32
        assert library.bucketize(2, library.tensor([1.0, NAN])).tolist() == 2


def test_nothing_is_among_others_that_is_not_a_number() -> None:
    x = glasstorch.tensor([NAN, 1.0])
    assert glasstorch.isin(x, x).tolist() == [False, True]
    assert glasstorch.isin(x, x, invert=True).tolist() == [True, False]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.searchsorted(t.ones(2, 3), t.ones(3, 3)), lambda t: t.searchsorted(t.ones(2, 3), 1.0),
        lambda t: t.searchsorted(t.ones(2), t.ones(2), side="left", right=True),
        lambda t: t.searchsorted(t.ones(2), t.ones(2), side="up"),
        lambda t: t.searchsorted(t.ones(2), t.ones(2), sorter=t.ones(2)),
        lambda t: t.searchsorted(t.ones(2), t.ones(2), sorter=t.tensor([0, 7])),
        lambda t: t.searchsorted(t.tensor([True]), t.tensor([True])),
        lambda t: t.searchsorted(t.tensor(5), t.tensor([1, 2])), lambda t: t.searchsorted(t.tensor(5), t.tensor(1)),
        lambda t: t.searchsorted(t.tensor(5), t.ones(0)), lambda t: t.searchsorted(t.tensor(5), t.ones(1, 2)),
        lambda t: t.searchsorted(t.tensor(5), t.ones(2), sorter=t.tensor([0, 1])),
        lambda t: t.searchsorted(t.ones(1), t.ones(0), sorter=t.tensor([1])),
        lambda t: t.isin(t.tensor([True]), t.tensor([True])), lambda t: t.isin(t.tensor([1j]), 2),
        lambda t: t.bucketize(t.ones(2), t.ones(2, 2)), lambda t: t.bucketize(1, t.ones(2, 2)),
        lambda t: t.bucketize(t.ones(2), t.ones(2), out=t.empty(2)),
        lambda t: t.bucketize(t.tensor([True]), t.tensor([True])),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)
