"""Are elements taken, repeated and subtracted, or refused, as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same
from tests.refusals import same_refusal

Require = Callable[[str], Any]


def test_negative_indices_count_from_the_end() -> None:
    x = glasstorch.tensor([[1, 2, 3], [4, 5, 6]])
    assert glasstorch.take(x, glasstorch.tensor([-1, 0])).tolist() == [6, 1]
    assert glasstorch.take_along_dim(x, glasstorch.tensor([[-1], [0]]), 1).tolist() == [[3], [4]]
    assert glasstorch.take_along_dim(x, glasstorch.tensor([[3], [-5]]), 1).tolist() == [[1], [5]]  # in steps of size
    with pytest.raises(RuntimeError, match="index -1 is out of bounds for dimension 0 with size 6"):
        glasstorch.take_along_dim(x, glasstorch.tensor([-1, 1]))


def test_nothing_is_prepended_where_nothing_is_subtracted() -> None:
    x = glasstorch.tensor([1.0, 4.0])
    assert glasstorch.diff(x, 0, prepend=x).tolist() == [1, 4]
    assert glasstorch.diff(x, 1, prepend=x).tolist() == [3, -3, 3]
    assert glasstorch.diff(x, 5).tolist() == []


def test_the_difference_of_bool_is_whether_they_differ() -> None:
    assert glasstorch.diff(glasstorch.tensor([True, False, False])).tolist() == [True, False]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.take(t.tensor([1.0]), t.tensor([1])), lambda t: t.take(t.tensor([1.0]), t.tensor([-2])),
        lambda t: t.take(t.tensor([]), t.tensor([0])), lambda t: t.take(t.tensor([1.0]), t.tensor([0.0])),
        lambda t: t.take_along_dim(t.tensor([1.0]), t.tensor([[0]]), 0),
        lambda t: t.take_along_dim(t.tensor([1.0]), t.tensor([0.0]), 0), lambda t: t.diff(t.tensor(1.0)),
        lambda t: t.diff(t.tensor([1.0]), -1), lambda t: t.diff(t.tensor([1.0]), prepend=t.tensor([[1.0]])),
        lambda t: t.repeat_interleave(t.ones(2, 3), 2, output_size=6),
        lambda t: t.repeat_interleave(t.ones(2, 3), 2, 0, output_size=5),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)


def test_the_size_that_is_said_of_what_is_repeated_is_its_size_along_the_dimension(torch: Any) -> None:
    assert torch.repeat_interleave(torch.ones(2, 3), 2, 0, output_size=4).shape == (4, 3)
    assert torch.repeat_interleave(torch.ones(2, 3), 2, output_size=12).shape == (12,)


def test_what_is_repeated_once_lies_in_row_major_order(torch: Any) -> None:
    x = torch.ones(24).as_strided((4, 1, 1, 3), (1, 6, 6, 4))
    assert torch.repeat_interleave(x, 1, 1).stride() == (3, 3, 3, 1)
    assert torch.repeat_interleave(x.as_strided((4, 1), (1, 4)), 1, 1).stride() == (1, 1)


MASKED = {
    "a wrong index where the mask is False": lambda t: t._unsafe_masked_index(
        t.arange(6.0).reshape(3, 2), t.tensor([True, False]), [t.tensor([0, 9]), t.tensor([1, -7])], 7
    ).tolist(),
    "no elements to select from": lambda t: t.ops.aten._unsafe_masked_index(
        t.ones(0, 2), t.tensor([[False]]), [t.tensor([3]), None], 7
    ).tolist(),
    "a mask of numbers that is broadcast": lambda t: t._unsafe_masked_index(
        t.arange(6.0).reshape(3, 2), t.tensor([[1], [0]]), [t.tensor([0, 1]), t.tensor([1, 0])], 7.5
    ).tolist(),
    "added": lambda t: t._unsafe_masked_index_put_accumulate(
        t.arange(6.0).reshape(3, 2), t.tensor([True, False]), [t.tensor([0, 9]), t.tensor([1, 0])], t.tensor([10.0, 20])
    ).tolist(),
    "a mask of another size": lambda t: t._unsafe_masked_index(t.ones(3), t.ones(3) > 0, [t.tensor([0, 1])], 0),
}


@pytest.mark.parametrize("call", MASKED.values(), ids=MASKED)
def test_masked_indices_select_and_add_as_in_pytorch(call: Any, require: Any) -> None:
    assert_same(call, require("torch"))
