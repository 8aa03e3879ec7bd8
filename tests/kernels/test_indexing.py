"""Is it looked at what values and indices share with the tensor that they are put into?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.kernels.indexing import look_before_put


@pytest.mark.parametrize(
    "put",
    [
        lambda t, x: x.__setitem__([0, 1], x[1:3]),
        lambda t, x: x.__setitem__([0, 1], x[4:6]),
        lambda t, x: x.__setitem__(x.long(), x),
        lambda t, x: (i := t.tensor([1, 0])).__setitem__(i, 5),
        lambda t, x: x.index_put_((t.tensor([0]),), x[:1], accumulate=True),
    ],
)
def test_what_lies_in_the_tensor_itself_is_refused(torch: Any, put: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to a"):
        put(torch, torch.arange(6.0))


def test_what_lies_beside_it_or_has_gaps_is_not(torch: Any) -> None:
    x = torch.arange(6.0)
    x[:3][[0, 1]] = x[4:]
    assert x.tolist() == [4, 5, 2, 3, 4, 5]
    x[[0, 1]] = x[::2][1:]
    assert x.tolist() == [2, 4, 2, 3, 4, 5]


def test_a_number_may_fill_a_mask_that_is_the_tensor(torch: Any) -> None:
    mask = torch.tensor([True, False])
    mask[mask] = False
    assert mask.tolist() == [False, False]


def test_a_tensor_that_overlaps_itself_is_written_with_a_warning(torch: Any) -> None:
    x = torch.ones(1).expand(3)
    with pytest.warns(UserWarning, match="Use of index_put_ on expanded tensors is deprecated"):
        x[torch.tensor([0])] = 2.0
    with (
        pytest.warns(UserWarning, match="Use of masked_fill_ on"),
        pytest.warns(UserWarning, match="Use of index_put_ on"),
    ):
        x[torch.tensor([True, False, True])] = 5.0
    assert x.tolist() == [5, 5, 5]


def test_one_value_wherever_a_mask_says_is_told_apart() -> None:
    x, mask, at = glasstorch.zeros(2), glasstorch.tensor([True, False]), glasstorch.tensor([0])
    one = glasstorch.ones(1)
    assert look_before_put(x, [mask], one, False)
    assert not look_before_put(x, [mask], one, True)
    assert not look_before_put(x, [at], one, False)
    assert not look_before_put(x, [mask], glasstorch.ones(2), False)
