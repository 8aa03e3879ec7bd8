"""Are elements and points counted as PyTorch counts them, at the borders of bins too, and refused in its words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import NoDataError
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN, INFINITY = float("nan"), float("inf")
RANDOM = np.random.default_rng(7)


def same(found: Any, wanted: Any) -> None:
    """Tensors, or tuples of them and of tuples, of one dtype and with the same numbers."""
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs)
        return
    assert repr(found.dtype) == repr(wanted.dtype)
    np.testing.assert_allclose(found.detach().double().numpy(), wanted.detach().double().numpy(), 2e-6, 1e-7)


COUNTS: list[Callable[[Any], Any]] = [
    lambda t: t.bincount(t.tensor([1, 2, 2]), t.tensor([0.5, 1, 2])),
    lambda t: t.bincount(t.tensor([1, 2, 2]), t.tensor([5, 1, 2])),
    lambda t: t.bincount(t.tensor([1, 2, 2]), t.tensor([0.5, 1, 2]).half(), 5),
    lambda t: t.bincount(t.tensor([], dtype=t.int64), t.tensor([]), 3),
    lambda t: t.bincount(t.tensor([3, 0], dtype=t.uint8)),
    lambda t: t.tensor([1, 1]).bincount(minlength=3),
    lambda t: t.histc(t.arange(6.0), 4),
    lambda t: t.histc(t.arange(6.0), 4, 1, 3),
    lambda t: t.histc(t.tensor([1.0, 1.0]), 4),
    lambda t: t.histc(t.tensor([1.0, NAN, -INFINITY]), 4, 0, 2),
    lambda t: t.histc(t.empty(0), 3),
    lambda t: t.histc(t.tensor([5.0]), 3, 5, 5),
    lambda t: t.histc(t.arange(20).half(), 7),
    lambda t: t.histc(t.arange(20).bfloat16(), 7),
    lambda t: t.histogram(t.arange(6.0), 4),
    lambda t: t.histogram(t.arange(6.0).double(), 4, range=(0.0, 4.0), density=True),
    lambda t: t.histogram(t.arange(6.0).reshape(2, 3), t.tensor([0.0, 1, 1, 5]), weight=t.arange(6.0).reshape(2, 3)),
    lambda t: t.histogram(t.arange(3.0).reshape(3, 1), 2, weight=t.tensor([[2.0], [3], [4]])),
    lambda t: t.histogram(t.arange(2.0).reshape(2, 1), t.tensor([0.0, 1, 5]), weight=t.tensor([[2.0, 3]])),
    lambda t: t.histogram(t.tensor([1.0, 1.0]), 3),
    lambda t: t.histogram(t.empty(0), 3),
    lambda t: t.arange(6.0).histogram(3, range=(2.0, 2.0)),
    lambda t: t.histogramdd(t.arange(12.0).reshape(4, 3), [2, 3, 2]),
    lambda t: t.histogramdd(t.arange(12.0).reshape(2, 2, 3), 2, weight=t.ones(2, 2), density=True),
    lambda t: t.histogramdd(t.arange(4.0).reshape(2, 2), [t.tensor([0.0, 1, 2]), t.tensor([1.0, 3])]),
    lambda t: t.histogramdd(t.arange(4.0).reshape(2, 2), [2, 2], range=[0.0, 1, 0, 3]),
    lambda t: t.histogramdd(t.empty(0, 2), [2, 2]).bin_edges,
    lambda t: t.histogram(t.arange(6.0).half(), 4, range=(0.0, 6.0)),
    lambda t: t.histogram(t.empty(0).bfloat16(), 4),
    lambda t: t.histogram(t.arange(101.0) / 10, 100, range=(0.0, 10.0)),
    lambda t: t.histogram(t.arange(1001.0) / 7 - 3, 1000),
]


@pytest.mark.parametrize("count", COUNTS)
def test_counts_are_pytorchs(require: Require, count: Callable[[Any], Any]) -> None:
    same(count(glasstorch), count(require("torch")))


@pytest.mark.parametrize("shape", [(100_000,), (40_000, 2)])
def test_many_points(require: Require, shape: tuple[int, ...]) -> None:
    data = np.round(RANDOM.normal(size=shape), 2).astype(np.float32)
    ours, theirs = (library.from_numpy(data) for library in (glasstorch, require("torch")))
    if len(shape) == 1:
        same(ours.histc(50, -1, 1), theirs.histc(50, -1, 1))
        same(ours.histogram(50), theirs.histogram(50))
    else:
        torch = require("torch")
        same(glasstorch.histogramdd(ours, [9, 8]), torch.histogramdd(theirs, [9, 8]))


def test_given_edges_are_returned_as_they_are_and_copied_where_one_tensor_is_asked_for() -> None:
    edges = glasstorch.tensor([0.0, 1.0])
    assert glasstorch.histogramdd(glasstorch.ones(2, 1), [edges]).bin_edges[0] is edges
    copied = glasstorch.histogram(glasstorch.ones(2), edges).bin_edges
    copied += 1
    assert edges.tolist() == [0, 1]


def test_the_gradient_is_refused_when_it_is_reached(require: Require) -> None:
    x = glasstorch.ones(3, 2, requires_grad=True)
    for result in (glasstorch.histogram(x, 3).hist, glasstorch.histogramdd(x, [2, 2]).hist):
        assert result.requires_grad
        with pytest.raises(RuntimeError, match="is not implemented"):
            result.sum().backward()
    assert not glasstorch.histc(x, 3).requires_grad


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.bincount(t.tensor([1, -2])),
        lambda t: t.bincount(t.ones(2)),
        lambda t: t.bincount(t.ones(2, 2).long()),
        lambda t: t.bincount(t.tensor([1]), minlength=-1),
        lambda t: t.bincount(t.tensor([1, 2]), t.ones(1)),
        lambda t: t.histc(t.ones(3), 0),
        lambda t: t.histc(t.ones(3), 4, 3, 1),
        lambda t: t.histc(t.tensor([1.0, INFINITY]), 4),
        lambda t: t.histc(t.ones(3), 4, 0, INFINITY),
        lambda t: t.histc(t.ones(3).long(), 4),
        lambda t: t.histc(t.ones(3), 4, out=t.empty(4).double()),
        lambda t: t.histogram(t.ones(3), 0),
        lambda t: t.histogram(t.ones(3), 4, range=(4.0, 0.0)),
        lambda t: t.histogram(t.ones(3), 4, range=(4.0,)),
        lambda t: t.histogram(t.ones(3), 4, range=(NAN, 4.0)),
        lambda t: t.histogram(t.ones(3), 4, weight=t.ones(2)),
        lambda t: t.histogram(t.ones(3, 1), 4, weight=t.ones(2, 1)),
        lambda t: t.histogramdd(t.ones(3, 1), [4], weight=t.ones(3, 1)),
        lambda t: t.histogram(t.ones(3), 4, weight=t.ones(3).double()),
        lambda t: t.histogram(t.ones(3), t.tensor([0, 1])),
        lambda t: t.histogram(t.ones(3), t.ones(2, 2)),
        lambda t: t.histogram(t.ones(3), t.ones(0)),
        lambda t: t.histogram(t.ones(3), t.ones(1)),
        lambda t: t.histogram(t.ones(3).long(), 3),
        lambda t: t.histogram(t.ones(3).half(), 3),
        lambda t: t.histogram(t.ones(3), 4, out=(t.empty(4).double(), t.empty(5))),
        lambda t: t.histogram(t.ones(3), 4, out=(t.empty(4), t.empty(5).double())),
        lambda t: t.histogramdd(t.ones(2, 3), [2, 2]),
        lambda t: t.histogramdd(t.ones(2, 3), [t.ones(2), t.ones(2)]),
        lambda t: t.histogramdd(t.ones(3), [2]),
        lambda t: t.histogramdd(t.ones(2, 3), [2, 2, 2], weight=t.ones(3)),
        lambda t: t.histogramdd(t.ones(2, 3), [2, 2, 2], range=[0.0, 1]),
    ],
)
def test_a_refusal_has_pytorchs_class_and_begins_with_its_words(require: Require, ask: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), ask, more=True)


def test_without_data_the_sizes_are_refused() -> None:
    with pytest.raises(NoDataError, match="bincount"):
        glasstorch.bincount(glasstorch.ones(2, dtype=glasstorch.int64, device="meta"))
