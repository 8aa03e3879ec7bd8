"""Does a size that is no number say so wherever one is needed?"""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest

import glasstorch
from glasstorch.core.symbols import SymInt


@pytest.fixture
def ragged() -> SymInt:
    lengths = [glasstorch.ones(2), glasstorch.ones(3)]
    size = glasstorch.nested.nested_tensor(lengths, layout=glasstorch.jagged).shape[1]
    assert isinstance(size, SymInt)
    return size


def test_nothing_but_a_node_makes_one() -> None:
    with pytest.raises(TypeError, match="a symbol is made by a ShapeEnv"):
        SymInt(3)


def test_it_is_no_int_and_is_never_false(ragged: SymInt) -> None:
    assert not isinstance(ragged, int)
    assert ragged
    assert isinstance(ragged, glasstorch.SymInt)


@pytest.mark.parametrize("needs", [int, operator.index, lambda n: n + 1])
def test_what_needs_a_number_fails(ragged: SymInt, needs: Callable[[SymInt], object]) -> None:
    with pytest.raises((AttributeError, RuntimeError, TypeError)):
        needs(ragged)


def test_a_multiple_is_another_symbol(ragged: SymInt) -> None:
    assert ragged * 2 == 2 * ragged != ragged
    assert hash(ragged) == hash(ragged * 1)
    assert str(ragged * 2) == f"2*{ragged}"
