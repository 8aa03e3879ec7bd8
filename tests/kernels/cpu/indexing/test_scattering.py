"""Are elements picked, placed and reduced along a dimension as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal


def test_many_elements_are_picked_and_added_in_parts() -> None:
    random = np.random.default_rng(4)
    x, y = random.integers(0, 99, (40, 3000)), random.integers(0, 99, (40, 3000))
    at = random.integers(0, 3000, (40, 3000))
    ours, index = glasstorch.from_numpy(x.copy()), glasstorch.from_numpy(at)
    assert np.array_equal(ours.gather(1, index).numpy(), np.take_along_axis(x, at, 1))
    expected = x.copy()
    np.add.at(expected, (np.arange(40)[:, None], at), y)
    assert np.array_equal(ours.scatter_add(1, index, glasstorch.from_numpy(y)).numpy(), expected)


def test_a_source_is_reduced_with_what_is_there(torch: Any) -> None:
    x, at = torch.tensor([2.0, 8.0, 1.0]), torch.tensor([0, 0, 1])
    source = torch.tensor([4.0, 6.0, 5.0])
    reduce = torch.scatter_reduce
    assert reduce(x, 0, at, source, "sum").tolist() == [12, 13, 1]
    assert reduce(x, 0, at, source, "prod").tolist() == [48, 40, 1]
    assert reduce(x, 0, at, source, "mean").tolist() == [4, 6.5, 1]
    assert reduce(x, 0, at, source, "mean", include_self=False).tolist() == [5, 5, 1]
    assert reduce(x, 0, at, source, "amax").tolist() == [6, 8, 1]
    assert reduce(x, 0, at, source, "amin", include_self=False).tolist() == [4, 5, 1]
    assert x.scatter_reduce_(0, at, source, "sum") is x
    assert x.tolist() == [12, 13, 1]


def test_the_mean_of_integers_is_rounded_down(torch: Any) -> None:
    x = torch.tensor([[-7, 1]])
    assert x.scatter_reduce(1, torch.tensor([[0]]), torch.tensor([[2]]), "mean").tolist() == [[-3, 1]]


def test_not_a_number_is_the_largest_and_the_smallest(torch: Any) -> None:
    x, nan = torch.tensor([1.0, float("nan")]), torch.tensor([float("nan"), 2.0])
    for name in ("amax", "amin"):
        assert x.scatter_reduce(0, torch.tensor([0, 1]), nan, name).isnan().tolist() == [True, True]


def test_the_older_way_to_reduce(torch: Any, recwarn: Any) -> None:
    x, at = torch.tensor([2, 8, 1]), torch.tensor([0, 0, 1])
    assert x.scatter(0, at, torch.tensor([3, 4, 5]), reduce="multiply").tolist() == [24, 40, 1]
    assert x.scatter(0, at, 3, reduce="add").tolist() == [8, 11, 1]
    out = torch.empty(0, dtype=torch.int64)
    assert torch.scatter(x, 0, at, 3, reduce="add", out=out) is out
    assert out.tolist() == [8, 11, 1]


def test_half_precision_is_summed_in_float32_and_rounded_once(torch: Any) -> None:
    x, at = torch.zeros(1, dtype=torch.float16), torch.zeros(3000, dtype=torch.int64)
    assert x.scatter_add(0, at, torch.ones(3000).half()).item() == 3000
    assert x.scatter_reduce(0, at, torch.ones(3000).half(), "mean").item() == 1
    assert x.scatter(0, at, 1, reduce="add").item() == 3000


def test_a_tensor_with_gaps_is_written(torch: Any) -> None:
    whole = torch.zeros(3, 4)
    whole[:, ::2].scatter_add_(1, torch.tensor([[1, 1]]), torch.tensor([[1.0, 2.0]]))
    assert whole.tolist() == [[0, 0, 3, 0], [0] * 4, [0] * 4]


# The same words as PyTorch's.
REFUSED: dict[str, Callable[[Any], Any]] = {
    "the older name": lambda t: t.zeros(2).scatter(0, t.tensor([0]), t.zeros(1), reduce="mean"),
    "the older name, a number": lambda t: t.zeros(2).scatter(0, t.tensor([0]), 1.0, reduce="amax"),
    "the name": lambda t: t.zeros(2).scatter_reduce(0, t.tensor([0]), t.zeros(1), "add"),
    "the name, of nothing": lambda t: t.zeros(2).scatter_reduce(0, t.zeros(0).long(), t.zeros(0), "add"),
    "dtypes": lambda t: t.zeros(2).scatter_reduce(0, t.tensor([0]), t.zeros(1).double(), "sum"),
    "a large index": lambda t: t.zeros(2).scatter_reduce(0, t.tensor([2]), t.zeros(1), "sum"),
    "a negative index": lambda t: t.zeros(2).scatter(0, t.tensor([-1]), t.zeros(1), reduce="add"),
    "the mean of bool": lambda t: t.zeros(2).bool().scatter_reduce(0, t.tensor([0]), t.zeros(1).bool(), "mean"),
    "the mean of bool, of nothing": lambda t: t.zeros(2).bool().scatter_reduce(
        0, t.zeros(0).long(), t.zeros(0).bool(), "mean"),
    "the largest of complex": lambda t: t.zeros(2, dtype=t.complex64).scatter_reduce(
        0, t.tensor([0]), t.zeros(1, dtype=t.complex64), "amax"),
    "a dtype": lambda t: t.zeros(2).to(t.uint16).scatter_reduce(0, t.tensor([0]), t.zeros(1).to(t.uint16), "sum"),
    "a dtype, without what is there": lambda t: t.zeros(2).to(t.uint16).scatter_reduce(
        0, t.tensor([0]), t.zeros(1).to(t.uint16), "sum", include_self=False),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_in_pytorchs_words(name: str, require: Callable[[str], Any], recwarn: Any) -> None:
    same_refusal(require("torch"), REFUSED[name])


def test_nothing_is_written_where_an_index_is_out_of_range() -> None:
    x = glasstorch.zeros(3)
    with pytest.raises(RuntimeError, match="index 3 is out of bounds for dimension 0 with size 3"):
        x.scatter_reduce_(0, glasstorch.tensor([0, 3]), glasstorch.ones(2), "amax", include_self=False)
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_have_a_second_name_without_a_gradient(torch: Any, name: str) -> None:
    x, source = torch.tensor([2.0, 0.0]), torch.tensor([1.0, 3.0], requires_grad=True)
    index = torch.tensor([0, 0])
    result = x.scatter_reduce(0, index, source, name)
    assert result.tolist() == x.scatter_reduce(0, index, source, f"a{name}").tolist()
    assert x.clone().scatter_reduce_(0, index, source.detach(), name).tolist() == result.tolist()
    with pytest.raises(RuntimeError, match=f"Expected 'reduce' to be one of .* but got {name}"):
        result.sum().backward()


@pytest.mark.parametrize("count", [255, 300, 511])
def test_counts_of_small_integers_start_again(torch: Any, count: int) -> None:
    zeros, ones = torch.zeros(count, dtype=torch.int64), torch.ones(count, dtype=torch.uint8)
    result = torch.zeros(1, dtype=torch.uint8).scatter_reduce(0, zeros, ones, "mean")
    assert result.item() == (0 if count == 300 else 255)


@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_elements_of_repeated_and_turned_tensors_are_picked_where_they_lie(count: int, dim: int) -> None:
    random = np.random.default_rng(8)
    base = glasstorch.from_numpy(random.uniform(size=(5, 7, 6)))
    for x in (base.transpose(0, 2), base[:, :1].expand(5, 7, 6), base[:1, :, :1].expand(5, 7, 6), base[:, ::2]):
        sizes = [count if d == dim else n for d, n in enumerate(x.shape)]
        for cut in (slice(None), slice(1)):  # many, and few
            index = random.integers(0, x.shape[dim], sizes)[:, cut] if dim != 1 else random.integers(0, 4, sizes)[cut]
            whole = x.numpy()[tuple(slice(n) if d != dim else slice(None) for d, n in enumerate(index.shape))]
            picked = x.gather(dim, glasstorch.from_numpy(np.ascontiguousarray(index)))
            assert np.array_equal(picked.numpy(), np.take_along_axis(whole, index, dim))
