"""Are the different elements found, in order and counted, as PyTorch finds them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import NoDataError
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN = float("nan")
SAMPLES: list[Any] = [[3, 1, 3], [[2.0, -1.0], [2.0, 5.0]], [NAN, 1.0, NAN], [-0.0, 0.0], [True, False, True], [], 7]


def both(library: Any, data: Any, **options: Any) -> list[Any]:
    results = library.unique(library.tensor(data), **options)
    return [results] if isinstance(results, library.Tensor) else list(results)


@pytest.mark.parametrize("data", SAMPLES, ids=str)
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_values_places_and_counts_are_pytorchs(require: Require, data: Any, inverse: bool, counts: bool) -> None:
    torch = require("torch")
    options = {"return_inverse": inverse, "return_counts": counts}
    found, wanted = both(glasstorch, data, **options), both(torch, data, **options)
    assert len(found) == len(wanted) == 1 + inverse + counts
    for ours, theirs in zip(found, wanted, strict=True):
        assert repr(ours.dtype) == repr(theirs.dtype)
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_parts_along_a_dimension_are_pytorchs(require: Require, dim: int) -> None:
    torch = require("torch")
    data = [[1, 2, 1], [0, 3, 0], [1, 2, 1]]
    options = {"dim": dim, "return_inverse": True, "return_counts": True}
    for ours, theirs in zip(both(glasstorch, data, **options), both(torch, data, **options), strict=True):
        assert ours.tolist() == theirs.tolist()
        assert ours.stride() == theirs.stride()


def test_the_method_is_the_function() -> None:
    x = glasstorch.tensor([3, 1, 3])
    assert [r.tolist() for r in x.unique(return_counts=True)] == [[1, 3], [1, 2]]


def test_half_precision_keeps_its_dtype() -> None:
    assert glasstorch.unique(glasstorch.tensor([2.0, 1.0, 2.0], dtype=glasstorch.bfloat16)).tolist() == [1.0, 2.0]


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="\"unique\" not implemented for 'ComplexFloat'"):
        glasstorch.unique(glasstorch.tensor([1j]))


def test_a_gradient_is_refused_when_it_is_wanted() -> None:
    x = glasstorch.tensor([2.0, 1.0], requires_grad=True)
    values = glasstorch.unique(x)
    assert values.requires_grad
    with pytest.raises(NotImplementedError, match="the derivative for '_unique2' is not implemented"):
        values.sum().backward()


def test_without_data_the_sizes_are_unknown() -> None:
    x = glasstorch.empty(3, device="meta")
    for call in (lambda: glasstorch.unique(x), lambda: glasstorch.unique(x, dim=0)):
        with pytest.raises(NoDataError, match="the sizes of its result depend on the data"):
            call()


# repeat_interleave ---------------------------------------------------------------------------------------------------


def test_indices_are_repeated_without_data_if_their_number_is_given() -> None:
    repeats = glasstorch.empty(3, dtype=glasstorch.int64, device="meta")
    assert glasstorch.repeat_interleave(repeats, output_size=5).shape == (5,)
    with pytest.raises(NoDataError, match="repeat_interleave"):
        glasstorch.repeat_interleave(repeats)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.repeat_interleave(t.tensor([1, -1])),
        lambda t: t.repeat_interleave(t.tensor([1.0])),
        lambda t: t.repeat_interleave(t.tensor([[1]])),
        lambda t: t.repeat_interleave(t.tensor([1, 2]), output_size=2),
        lambda t: t.repeat_interleave(t.tensor([1.0, 2.0]), t.tensor([1, 2, 3])),
        lambda t: t.repeat_interleave(t.tensor([1.0, 2.0]), t.tensor([[1, 2]])),
        lambda t: t.repeat_interleave(t.tensor([1.0, 2.0]), -1),
        lambda t: t.repeat_interleave(t.tensor([1.0, 2.0]), 2, 3),
    ],
)
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)


@pytest.mark.parametrize("data", [*SAMPLES, [1, 1, 2, 2, 1], [[1, 1], [1, 1], [2, 1]], [NAN, NAN]], ids=str)
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("counts", [False, True])
def test_runs_of_equal_elements_are_pytorchs(require: Require, data: Any, inverse: bool, counts: bool) -> None:
    dims = [None, 0, -1] if np.ndim(data) == 2 else [None]
    for dim in dims:
        found, wanted = (
            results(t.unique_consecutive(t.tensor(data), return_inverse=inverse, return_counts=counts, dim=dim))
            for t in (glasstorch, require("torch"))
        )
        assert len(found) == len(wanted)
        for ours, theirs in zip(found, wanted, strict=True):
            assert repr(ours.dtype) == repr(theirs.dtype)
            assert ours.stride() == theirs.stride()
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def results(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


def test_many_elements_are_found_with_their_places(require: Require) -> None:
    data = np.random.default_rng(0).integers(-40, 40, 5000).astype(np.float32)
    options = {"return_inverse": True, "return_counts": True}
    ours, theirs = (t.unique(t.from_numpy(data), **options) for t in (glasstorch, require("torch")))
    assert [r.tolist() for r in ours] == [r.tolist() for r in theirs]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.unique_consecutive(t.ones(2), dim=3),
        lambda t: t.unique_consecutive(t.tensor(1.0), dim=0),
        lambda t: t.unique_consecutive(t.ones(0, 3), dim=1),
        lambda t: t.unique_consecutive(t.tensor([1j])),
    ],
)
def test_runs_are_refused_in_pytorchs_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)


def test_the_gradient_of_runs_is_refused() -> None:
    x = glasstorch.ones(3, requires_grad=True)
    with pytest.raises(NotImplementedError, match="unique_consecutive"):
        x.unique_consecutive().sum().backward()


NAN = float("nan")


@pytest.mark.parametrize(
    "data",
    [
        [[1.0, NAN], [1.0, NAN], [0.0, NAN], [1.0, 2.0]],
        [[NAN, 1.0], [0.0, NAN], [0.0, 2.0], [NAN, 1.0], [0.0, 1.0]],
        [[3.0, NAN, 1.0], [3.0, 1.0, 0.0], [1.0, NAN, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]],
        [1.0, NAN, 0.0, NAN, 2.0, -1.0, NAN, 0.0],
    ],
)
def test_parts_with_nan_are_in_pytorchs_order(require: Require, data: Any) -> None:
    torch = require("torch")
    dims = range(torch.tensor(data).dim())
    for dim in dims:
        ours, theirs = (
            lib.unique(lib.tensor(data), dim=dim, return_inverse=True, return_counts=True)
            for lib in (glasstorch, torch)
        )
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_many_parts_with_nan_are_sorted_where_there_are_none() -> None:
    rows = glasstorch.tensor([[float(i % 7), 0.0] for i in range(40)] + [[9.0, NAN], [9.0, NAN]])
    values, inverse, counts = glasstorch.unique(rows, dim=0, return_inverse=True, return_counts=True)
    assert values[:7, 0].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert counts.tolist() == [6, 6, 6, 6, 6, 5, 5, 1, 1]
    assert values[inverse][:40].equal(rows[:40])
