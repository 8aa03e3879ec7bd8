"""Do `int(x)`, `bool(x)` and their like give what PyTorch's give?"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import pytest

import glasstorch


def test_an_element_as_a_python_number(torch: Any) -> None:
    assert complex(torch.tensor(3)) == 3
    assert type(complex(torch.tensor(3))) is complex
    z = torch.tensor([2.0]).cfloat()[0]
    assert (int(z), float(z), complex(z)) == (2, 2.0, 2 + 0j)
    assert int(torch.tensor(-2.7)) == -2
    assert operator.index(torch.tensor(7, dtype=torch.uint16)) == 7


@pytest.mark.parametrize("number", [int, float])
def test_a_number_off_the_real_axis_is_no_real_number(torch: Any, number: type) -> None:
    with pytest.raises(RuntimeError, match=r"value cannot be converted to type .* without overflow"):
        number(torch.tensor([2.0]).cfloat()[0] * 1j)


@pytest.mark.parametrize("name", ["float32", "complex64"])
def test_only_whole_numbers_are_indices(torch: Any, name: str) -> None:
    with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
        operator.index(torch.ones((), dtype=getattr(torch, name)))


def test_one_element_is_or_is_not_0(torch: Any) -> None:
    assert [torch.tensor(x).is_nonzero() for x in (0.0, 2, 1j, False)] == [False, True, True, False]
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        torch.ones(2).is_nonzero()
    with pytest.raises(RuntimeError, match="no values is ambiguous"):
        torch.ones(0).is_nonzero()


@pytest.mark.parametrize(("number", "warned"), [(float, True), (complex, True), (int, False), (bool, False)])
def test_a_float_of_what_requires_grad_is_warned_of_where_gradients_are_recorded(
    number: type, warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasstorch.core.warn_once._given", set())
    x = glasstorch.ones(1, requires_grad=True)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        with glasstorch.no_grad():
            assert number(x) == 1
        assert (number(x.detach()), x.item()) == (1, 1)
        assert given == []
        assert number(x) == number(x * 1) == 1
    assert ["Converting a tensor with requires_grad=True to a scalar" in str(one.message) for one in given] == (
        [True] * warned
    )
