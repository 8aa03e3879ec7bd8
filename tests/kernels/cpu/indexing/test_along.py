"""Are slices filled, copied, added and reduced at indices as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.refusals import same_refusal


def test_slices_are_added_one_after_the_other(torch: Any) -> None:
    x, at = torch.ones(3, 2), torch.tensor([2, 0, 2])
    source = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert x.index_add(0, at, source).tolist() == [[4, 5], [1, 1], [7, 9]]
    assert x.index_add(0, at.int(), source, alpha=2).tolist() == [[7, 9], [1, 1], [13, 17]]
    assert x.index_add(1, torch.tensor([1, 1]), torch.ones(3, 2)).tolist() == [[1, 3]] * 3
    assert torch.tensor(1.0).index_add(0, torch.tensor(0), torch.tensor(2.0)).item() == 3
    assert x.index_add_(-2, at, source) is x
    assert x.tolist() == [[4, 5], [1, 1], [7, 9]]


@pytest.mark.parametrize("width", [1, 3, 20, 300])
def test_a_sum_of_negative_zeros_is_negative(torch: Any, width: int) -> None:
    x, at = torch.full((2, width), -0.0), torch.tensor([1, 1, 1])
    assert torch.signbit(x.index_add(0, at, torch.full((3, width), -0.0))).all()


def test_a_factor_loses_its_fraction_in_integers(torch: Any) -> None:
    at = torch.tensor([0, 0])
    assert torch.zeros(2, dtype=torch.int64).index_add(0, at, torch.tensor([1, 2]), alpha=1.5).tolist() == [3, 0]
    truths = torch.tensor([True, False])
    assert torch.zeros(2, dtype=torch.bool).index_add(0, at, truths).tolist() == [True, False]


def test_half_precision_rounds_once_where_pytorch_hands_it_to_scatter_add(torch: Any) -> None:
    x, at, ones = torch.zeros(1, 1, dtype=torch.float16), torch.zeros(3000, dtype=torch.int64), torch.ones(3000, 1)
    ones = ones.half()
    assert x.index_add(0, at, ones).item() == 3000
    assert x.index_add(0, at.int(), ones).item() == 2048  # 2049 is no number of half precision
    assert x[0].index_add(0, at, ones[:, 0]).item() == 2048


def test_slices_are_reduced(torch: Any) -> None:
    x, at = torch.tensor([[2.0, 8.0], [1.0, 1.0]]), torch.tensor([0, 0])
    source = torch.tensor([[4.0, 5.0], [6.0, 5.0]])
    reduce = glasstorch.index_reduce if torch is glasstorch else quietly(torch.index_reduce)
    assert reduce(x, 0, at, source, "prod").tolist() == [[48, 200], [1, 1]]
    assert reduce(x, 0, at, source, "mean").tolist() == [[4, 6], [1, 1]]
    assert reduce(x, 0, at, source, "mean", include_self=False).tolist() == [[5, 5], [1, 1]]
    assert reduce(x, 0, at, source, "amax").tolist() == [[6, 8], [1, 1]]
    assert reduce(x, 0, at, source, "amin", include_self=False).tolist() == [[4, 5], [1, 1]]
    assert reduce(torch.tensor([-7]), 0, at, torch.tensor([1, 2]), "mean").tolist() == [-2]
    large = torch.tensor([3], dtype=torch.uint8)
    assert reduce(large, 0, at, torch.tensor([9, 7], dtype=torch.uint8), "amin", include_self=False).tolist() == [7]


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch's, which warns once that it is in beta."""

    def call(*args: Any, **kwargs: Any) -> Any:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)

    return call


def test_slices_are_copied(torch: Any) -> None:
    x = torch.zeros(3, 2)
    assert x.index_copy(0, torch.tensor([2, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist() == [
        [3, 4], [0, 0], [1, 2],
    ]  # fmt: skip
    assert torch.zeros(3).index_copy(0, torch.tensor(1), torch.tensor(5.0)).tolist() == [0, 5, 0]
    out = torch.empty(0)
    assert torch.index_copy(x, 1, torch.tensor([1]), torch.ones(3, 1), out=out) is out
    assert out.tolist() == [[0, 1]] * 3
    assert torch.zeros(3, 0).index_copy(0, torch.tensor([7]), torch.zeros(1, 0)).tolist() == [[], [], []]


def test_slices_are_filled(torch: Any) -> None:
    x = torch.zeros(2, 3)
    assert x.index_fill(1, torch.tensor([0, -1]), 7).tolist() == [[7, 0, 7]] * 2
    assert x.index_fill(0, torch.tensor([1]), torch.tensor(2.5)).tolist() == [[0, 0, 0], [2.5] * 3]
    assert x.t().index_fill(0, torch.tensor([0]), 1).stride() == (1, 3)  # the order in memory is kept
    assert torch.tensor(1.0).index_fill(0, torch.tensor([0]), 4).item() == 4
    assert x.index_fill_(1, torch.tensor([1]), torch.tensor(3)) is x
    assert x.tolist() == [[0, 3, 0]] * 2


def test_an_expanded_tensor_is_filled_with_a_warning(torch: Any) -> None:
    x = torch.zeros(1, 3).expand(2, 3)
    with pytest.warns(UserWarning, match="Use of index_fill_ on expanded tensors is deprecated"):
        x.index_fill_(1, torch.tensor([1]), 2)
    assert x.tolist() == [[0, 2, 0]] * 2


def added_to_itself(torch: Any) -> None:
    x = torch.zeros(3)
    x.index_add_(0, torch.arange(3), x)


def copied_from_a_part(torch: Any) -> None:
    x = torch.zeros(3)
    x.index_copy_(0, torch.tensor([0]), x[1:2])


def filled_at_itself(torch: Any) -> None:
    x = torch.tensor([0, 1])
    x.index_fill_(0, x, 5)


# The same words as PyTorch's.
REFUSED: dict[str, Callable[[Any], Any]] = {
    "index_add: a matrix": lambda t: t.zeros(2).index_add(0, t.zeros(1, 2).long(), t.zeros(2)),
    "index_add: floats": lambda t: t.zeros(2).index_add(0, t.zeros(2), t.zeros(2)),
    "index_add: dtypes": lambda t: t.zeros(2).index_add(0, t.tensor([0]), t.zeros(1).double()),
    "index_add: a dimension": lambda t: t.zeros(2, 2).index_add(1, t.tensor([0]), t.zeros(2)),
    "index_add: the number": lambda t: t.zeros(2).index_add(0, t.tensor([0]), t.zeros(2)),
    "index_add: no dimensions": lambda t: t.zeros(2).index_add(0, t.tensor([0, 1]), t.zeros(())),
    "index_add: sizes": lambda t: t.zeros(3, 2).index_add(0, t.tensor([0, 1]), t.zeros(2)),
    "index_add: a large index": lambda t: t.zeros(3, 2).index_add(0, t.tensor([3]), t.zeros(1, 2)),
    "index_add: a dtype": lambda t: t.zeros(2).to(t.uint16).index_add(0, t.tensor([0]), t.zeros(1).to(t.uint16)),
    "index_add: memory": added_to_itself,
    "index_reduce: the name": lambda t: t.zeros(2).index_reduce(0, t.tensor([0]), t.zeros(1), "sum"),
    "index_reduce: bool": lambda t: t.zeros(2).bool().index_reduce(0, t.tensor([0]), t.zeros(1).bool(), "prod"),
    "index_reduce: complex": lambda t: t.zeros(2, 1, dtype=t.complex64).index_reduce(
        0, t.tensor([0]), t.zeros(1, 1, dtype=t.complex64), "amax"),
    "index_copy: a matrix": lambda t: t.zeros(2).index_copy(0, t.zeros(1, 2).long(), t.zeros(2)),
    "index_copy: int32": lambda t: t.zeros(2).index_copy(0, t.zeros(2).int(), t.zeros(2)),
    "index_copy: dtypes": lambda t: t.zeros(2).index_copy(0, t.tensor([0]), t.zeros(1).double()),
    "index_copy: dimensions": lambda t: t.zeros(2, 2).index_copy(0, t.tensor([0]), t.zeros(1)),
    "index_copy: slices": lambda t: t.zeros(2, 2).index_copy(0, t.tensor([0]), t.zeros(1, 3)),
    "index_copy: the number": lambda t: t.zeros(2, 2).index_copy(0, t.tensor([0]), t.zeros(2, 2)),
    "index_copy: a number": lambda t: t.zeros(2).index_copy(0, t.tensor([0, 1]), t.zeros(())),
    "index_copy: a negative index": lambda t: t.zeros(2).index_copy(0, t.tensor([-1]), t.zeros(1)),
    "index_copy: out": lambda t: t.index_copy(t.zeros(2), 0, t.tensor([0]), t.zeros(1), out=t.empty(2).double()),
    "index_copy: memory": copied_from_a_part,
    "index_fill: int32": lambda t: t.zeros(2).index_fill(0, t.zeros(2).int(), 1),
    "index_fill: a matrix": lambda t: t.zeros(2).index_fill(0, t.zeros(1, 1).long(), 1),
    "index_fill: a large index": lambda t: t.zeros(2).index_fill(0, t.tensor([2]), 1),
    "index_fill: complex": lambda t: t.zeros(2).index_fill(0, t.tensor([0]), 1j),
    "index_fill: too large a number": lambda t: t.zeros(2, dtype=t.uint8).index_fill(0, t.tensor([0]), 300),
    "index_fill: a vector": lambda t: t.zeros(2).index_fill(0, t.tensor([0]), t.zeros(1)),
    "index_fill: memory": filled_at_itself,
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_in_pytorchs_words(name: str, require: Callable[[str], Any]) -> None:
    same_refusal(require("torch"), REFUSED[name])


@pytest.mark.parametrize("name", ["index_add_", "index_copy_"])
def test_nothing_is_written_where_an_index_is_out_of_range(name: str) -> None:
    x = glasstorch.zeros(2, 3)
    with pytest.raises((RuntimeError, IndexError), match="index 5 is out of bounds for dimension 1 with size 3"):
        getattr(x, name)(1, glasstorch.tensor([0, 5]), glasstorch.ones(2, 2))
    with pytest.raises(IndexError, match="index out of range in self: 9 along dimension 1, which has size 3"):
        x.index_reduce_(1, glasstorch.tensor([0, 9]), glasstorch.ones(2, 2), "amax")
    assert x.tolist() == [[0] * 3] * 2


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.index_copy(0, glasstorch.tensor([0]), glasstorch.ones(1)),
        lambda x: x.index_fill(0, glasstorch.tensor([0]), 1),
        lambda x: x.index_reduce(0, glasstorch.tensor([0]), glasstorch.ones(1), "prod", include_self=False),
    ],
)
def test_where_there_is_no_element_no_index_is_right(call: Callable[[Any], Any]) -> None:
    with pytest.raises(IndexError, match="0"):
        call(glasstorch.empty(0))
