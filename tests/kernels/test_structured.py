"""Is a tensor written to only where no argument that is still to be read lies?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch

OVERLAPS = "some elements of the input tensor and the written-to tensor refer to a single memory location"


def test_out_may_lie_exactly_on_an_input_of_an_operator_that_goes_element_by_element(torch: Any) -> None:
    x = torch.arange(6.0)
    torch.neg(x[1:4], out=x[1:4])
    torch.neg(x[::2], out=x[::2])
    assert x.tolist() == [0.0, -1.0, 2.0, -3.0, -4.0, 5.0]


def test_out_may_lie_exactly_on_an_input_far_into_the_storage(torch: Any) -> None:
    x = torch.arange(5000.0)
    torch.neg(x[4000:], out=x[4000:])
    assert x[3999:4002].tolist() == [3999.0, -4000.0, -4001.0]


def test_out_in_the_same_block_in_another_order_is_refused(torch: Any) -> None:
    x = torch.arange(9.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match=OVERLAPS):
        torch.neg(x, out=x.t())


def test_out_between_the_elements_of_an_input_is_not_refused(torch: Any) -> None:
    x = torch.arange(6.0)
    torch.neg(x[::2], out=x[1::2])
    assert x.tolist() == [0.0, 0.0, 2.0, -2.0, 4.0, -4.0]


def test_out_exactly_on_what_is_read_in_another_order_is_refused(torch: Any) -> None:
    x, places = torch.arange(3.0), torch.tensor([2, 1, 0])
    for out in (x, x[:]):
        with pytest.raises(RuntimeError, match=OVERLAPS):
            torch.index_select(x, 0, places, out=out)


def test_out_with_gaps_exactly_on_what_is_read_in_another_order_is_refused_here() -> None:
    x, places = glasstorch.arange(6.0), glasstorch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match=OVERLAPS):
        glasstorch.index_select(x[::2], 0, places, out=x[::2])
