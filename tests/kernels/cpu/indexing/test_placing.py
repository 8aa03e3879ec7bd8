"""Are elements taken and put by number and mask, and found so many at a time, as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.refusals import same_refusal


def test_elements_are_taken_by_number(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    assert x.take(torch.tensor([[5, -6]])).tolist() == [[5, 0]]
    assert x.t().take(torch.tensor([1, -1])).tolist() == [3, 5]  # numbers count rows of what is seen
    assert torch.tensor(4).take(torch.tensor(0)).item() == 4
    out = torch.empty(0, dtype=torch.int64)
    assert torch.take(x, torch.tensor([2]), out=out) is out
    assert out.tolist() == [2]


def test_elements_are_put_by_number(torch: Any) -> None:
    x = torch.zeros(2, 3)
    assert x.put(torch.tensor([[1, -1]]), torch.tensor([4.0, 5.0])).tolist() == [[0, 4, 0], [0, 0, 5]]
    assert x.put(torch.tensor([1, 1]), torch.tensor([4.0, 5.0]), True).tolist() == [[0, 9, 0], [0] * 3]
    assert x.put(torch.tensor([1, 1]), torch.tensor([4.0, 5.0])).tolist() == [[0, 5, 0], [0] * 3]
    assert x.t().put_(torch.tensor([1]), torch.tensor([4.0])).stride() == (1, 3)
    assert x.tolist() == [[0, 0, 0], [4, 0, 0]]


def test_a_source_goes_where_a_mask_is_true(torch: Any) -> None:
    x, mask = torch.zeros(2, 2), torch.tensor([[True, False], [False, True]])
    assert x.masked_scatter(mask, torch.tensor([1.0, 2.0, 3.0])).tolist() == [[1, 0], [0, 2]]
    assert torch.zeros(2).masked_scatter(mask, torch.tensor([[1.0], [2.0]])).tolist() == [[1, 0], [0, 2]]
    assert x.masked_scatter_(torch.tensor([False, True]), torch.ones(2)) is x
    assert x.tolist() == [[0, 1], [0, 1]]


def test_a_source_may_be_the_tensor_itself() -> None:
    x = glasstorch.arange(5)
    x.masked_scatter_(glasstorch.tensor([False, True, True, True, True]), x)
    assert x.tolist() == [0, 0, 1, 2, 3]  # what it held before


def test_so_many_that_are_not_zero(torch: Any) -> None:
    x = torch.tensor([[0, 1, 0], [2, 0, 3]])
    assert torch.nonzero_static(x, size=2).tolist() == [[0, 1], [1, 0]]
    assert x.nonzero_static(size=4, fill_value=9).tolist() == [[0, 1], [1, 0], [1, 2], [9, 9]]
    assert tuple(torch.nonzero_static(torch.tensor(1), size=2).shape) == (2, 0)
    out = torch.empty(0, dtype=torch.int64)
    assert torch.nonzero_static(x, size=1, out=out) is out
    assert out.tolist() == [[0, 1]]


def put_into_itself(torch: Any) -> None:
    x = torch.zeros(2)
    x.put_(torch.tensor([0]), x[:1])


# The same words as PyTorch's.
REFUSED: dict[str, Callable[[Any], Any]] = {
    "take: int32": lambda t: t.zeros(2).take(t.zeros(1).int()),
    "take: nothing": lambda t: t.zeros(0).take(t.tensor([0])),
    "take: a large number": lambda t: t.zeros(2, 3).take(t.tensor([1, 6])),
    "take: a small number": lambda t: t.zeros(2, 3).take(t.tensor([1, -7])),
    "put: int32": lambda t: t.zeros(2).put(t.zeros(1).int(), t.zeros(1)),
    "put: dtypes": lambda t: t.zeros(2).put(t.tensor([0]), t.zeros(1).double()),
    "put: the number": lambda t: t.zeros(2).put(t.tensor([0]), t.zeros(2)),
    "put: nothing": lambda t: t.zeros(0).put(t.tensor([0]), t.zeros(1)),
    "put: a large number": lambda t: t.zeros(2, 3).put(t.tensor([6]), t.zeros(1)),
    "put: a dtype": lambda t: t.zeros(2).to(t.uint16).put(t.tensor([0]), t.zeros(1).to(t.uint16)),
    "put: memory": put_into_itself,
    "masked_scatter: bytes": lambda t: t.zeros(2).masked_scatter(t.ones(2, dtype=t.uint8), t.zeros(2)),
    "masked_scatter: sizes": lambda t: t.zeros(3).masked_scatter(t.ones(2, 2).bool(), t.zeros(4)),
    "masked_scatter: a dtype": lambda t: t.zeros(2).to(t.uint16).masked_scatter(
        t.ones(2).bool(), t.zeros(2).to(t.uint16)),
    "nonzero_static: a dtype": lambda t: t.nonzero_static(t.zeros(2).to(t.uint16), size=2),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_in_pytorchs_words(name: str, require: Callable[[str], Any]) -> None:
    same_refusal(require("torch"), REFUSED[name])


def test_what_our_words_say_more_of() -> None:
    t = glasstorch
    with pytest.raises(RuntimeError, match="the source has 1, the mask 2"):
        t.zeros(2).masked_scatter(t.ones(2).bool(), t.zeros(1))
    with pytest.raises(RuntimeError, match="same dtypes but got Float and Double"):
        t.zeros(2).masked_scatter(t.ones(2).bool(), t.zeros(2).double())
    with pytest.raises(RuntimeError, match="non-negative integer, got -1"):
        t.nonzero_static(t.zeros(2), size=-1)
    with pytest.raises(RuntimeError, match=r"scalar type Long but got scalar type torch\.float32"):
        t.nonzero_static(t.zeros(2), size=1, out=t.empty(1, 1))


def test_nothing_is_written_where_something_is_wrong() -> None:
    x = glasstorch.zeros(2)
    with pytest.raises(IndexError, match="tried to access index 2 on a tensor of 2 elements"):
        x.put_(glasstorch.tensor([0, 2]), glasstorch.ones(2))
    with pytest.raises(RuntimeError, match="the source has 1, the mask 2"):
        x.masked_scatter_(glasstorch.tensor([True, True]), glasstorch.ones(1))
    assert x.tolist() == [0, 0]


def test_elements_of_turned_tensors_are_taken_where_they_lie(torch: Any) -> None:
    x = torch.arange(24.0).reshape(4, 6).T
    assert x.take(torch.tensor([[1, -1]])).tolist() == [[6, 23]]
    assert x.take(torch.tensor(7)).item() == 19
    for index in (24, -25):
        with pytest.raises(IndexError, match=f"out of range: tried to access index {index} on a tensor of 24 elements"):
            x.take(torch.tensor([index]))
