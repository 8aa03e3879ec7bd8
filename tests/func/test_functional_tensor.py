"""Do the aliases of a functional tensor see each other's updates, however they are read?"""

from __future__ import annotations

import pytest

import glasstorch as torch
from glasstorch.func.functional_tensor import functional, inside, is_functional, sync


def test_the_value_is_never_written_to() -> None:
    value = torch.zeros(4)
    wrapper = functional(value)
    wrapper.add_(1)
    wrapper[1:3].mul_(5)
    assert value.tolist() == [0, 0, 0, 0]
    assert wrapper.tolist() == [1, 5, 5, 1]


def test_reading_memory_brings_a_stale_alias_up_to_date() -> None:
    wrapper = functional(torch.zeros(2, 3))
    row, column = wrapper[0], wrapper[:, 1]
    assert (row.tolist(), column.tolist()) == ([0, 0, 0], [0, 0])
    row.add_(1)
    assert column.tolist() == [1, 0]
    column.mul_(7)
    assert (row.tolist(), float(row[1]), wrapper.numpy().tolist()) == ([1, 7, 1], 7, [[1, 7, 1], [0, 0, 0]])


def test_a_view_is_made_again_only_when_it_is_used() -> None:
    wrapper = functional(torch.zeros(2, 2))
    view = wrapper.view(4)
    before = inside(view).value
    wrapper.add_(1)
    assert inside(view).value is before
    sync(view)
    assert inside(view).value is not before


def test_only_the_wrapper_is_functional() -> None:
    wrapper = functional(torch.ones(1))
    assert is_functional(wrapper)
    assert not is_functional(inside(wrapper).value)
    assert not is_functional("x")


def test_a_view_without_an_inverse_is_refused_when_it_is_written_to() -> None:
    view = functional(torch.ones(2)).view(2, 1)
    found = inside(view)
    found.path = (found.path[0]._replace(inverse=None),)
    with pytest.raises(RuntimeError, match="has no inverse here"):
        view.add_(1)
