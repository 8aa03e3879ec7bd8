"""Which memory format does a tensor look like, and what is made of other operators?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.dispatch.trace import trace
from glasstorch.operators.composite.copies.conversions import suggested_memory_format


@pytest.mark.parametrize(
    ("shape", "strides", "name"),
    [
        ((2, 3, 4, 5), (60, 20, 5, 1), "contiguous_format"),
        ((2, 3, 4, 5), (60, 1, 15, 3), "channels_last"),
        ((2, 3, 4, 5), (120, 1, 30, 6), "channels_last"),
        ((2, 1, 4, 5), (20, 20, 5, 1), "contiguous_format"),
        ((2, 1, 1, 1), (1, 1, 1, 1), "contiguous_format"),
        ((2, 3, 4), (12, 1, 3), "contiguous_format"),
        ((2, 3, 2, 2, 2), (24, 1, 12, 6, 3), "channels_last_3d"),
    ],
)
def test_the_format_that_strides_look_like(shape: tuple[int, ...], strides: tuple[int, ...], name: str) -> None:
    assert suggested_memory_format(glasstorch.empty_strided(shape, strides)).name == name


def test_a_conversion_is_an_empty_tensor_and_a_copy() -> None:
    x = glasstorch.ones(2)
    with trace() as hops:
        x.double()
    names = [(hop.operator, hop.key.name) for hop in hops]
    assert names[0][0] == "aten::to.dtype_layout"
    assert [name for name, key in names if key == "CPU"] == [
        "aten::_to_copy",
        "aten::empty.memory_format",
        "aten::copy_",
    ]


def test_zeros_is_empty_and_zero_() -> None:
    with trace() as hops:
        glasstorch.zeros(2)
    assert [(hop.operator, hop.key.name) for hop in hops] == [
        ("aten::zeros", "BackendSelect"),
        ("aten::zeros", "CPU"),
        ("aten::empty.memory_format", "CPU"),
        ("aten::zero_", "CPU"),
    ]


# A value that lies in the memory that is written ----------------------------------------------------------------


@pytest.mark.parametrize(
    "assign",
    [
        lambda a: a.__setitem__(0, a[0, 0]),
        lambda a: a.__setitem__(0, a[0, 1]),
        lambda a: a.__setitem__(0, a.flatten()[0]),
        lambda a: a.__setitem__((0, 0), a[0, 1]),
        lambda a: a.fill_(a[0, 1]),
        lambda a: a.t().fill_(a[2, 1]),
    ],
)
def test_an_element_of_the_tensor_itself_may_fill_it(
    require: Callable[[str], Any], assign: Callable[[Any], Any]
) -> None:
    results = []
    for library in (glasstorch, require("torch")):
        a = library.arange(9.0).reshape(3, 3)
        assign(a)
        results.append(a.tolist())
    assert results[0] == results[1]


def test_a_row_of_the_tensor_itself_may_not(torch: Any) -> None:
    a = torch.arange(9.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        a.copy_(a[0])


def test_filling_with_an_own_element_passes_its_gradient_on(torch: Any) -> None:
    x = torch.arange(4.0, requires_grad=True)
    y = x * 1
    y.fill_(y[3])
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 4]
