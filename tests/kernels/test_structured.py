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


def test_overlap_is_judged_in_bytes_where_elements_have_two_sizes(torch: Any) -> None:
    x = torch.zeros(8)
    y = x.view(torch.float64)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        torch.add(y[1:3], 1, out=x[3:5])  # bytes 8 to 24, and 12 to 20
    torch.add(y[1:3], 1, out=x[6:])
    assert x.tolist() == [0] * 6 + [1, 1]


REDUCTIONS = ["sum", "amax", "amin", "argmax", "any", "all", "prod", "var", "std"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_result_of_a_reduction_may_be_written_to_what_it_reads(torch: Any, name: str) -> None:
    dtype = {"argmax": torch.int64, "any": torch.bool, "all": torch.bool}.get(name, torch.float32)
    x = torch.arange(12).view(3, 4).to(dtype).clone()
    more = {"correction": 1} if name in ("var", "std") else {}
    getattr(torch, name)(x, 0, out=x[0], **more)
    getattr(torch, name)(x, 0, out=torch.zeros(1, dtype=dtype).expand(4), **more)


def test_a_result_that_overlaps_what_it_is_computed_from_is_right_where_it_is_let_pass() -> None:
    x = glasstorch.arange(12.0).view(4, 3).clone()
    wanted = x[:3].softmax(0).tolist(), x[:3].mm(x[:3]).tolist(), x.sum(0).tolist(), x[:3].tril().tolist()
    written = (
        lambda x: glasstorch.softmax(x[:3], 0, out=x[1:]),
        lambda x: glasstorch.mm(x[:3], x[:3], out=x[1:]),
        lambda x: glasstorch.sum(x, 0, out=x[0]),
        lambda x: glasstorch.tril(x[:3], out=x[1:]),
    )
    for want, write in zip(wanted, written, strict=True):
        assert write(x.clone()).tolist() == want


def test_two_numbers_may_not_have_one_place_in_a_mean_a_product_or_a_softmax(torch: Any) -> None:
    x, out = torch.ones(3, 3), torch.zeros(1).expand(3, 3)
    writes = (
        lambda: torch.mean(x, 0, out=out[0]),
        lambda: torch.mm(x, x, out=out),
        lambda: torch.softmax(x, 0, out=out),
        lambda: torch.max(x, 0, out=(out[0], torch.empty(0, dtype=torch.int64))),
        lambda: torch.cumsum(x, 0, out=out),
    )
    for write in writes:
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write()
