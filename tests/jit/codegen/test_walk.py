"""Does a walk visit every element once, in an order that suits memory, in as few dimensions as it can?"""

from __future__ import annotations

import numpy as np
import pytest

from glasstorch.core.geometry import Shape, contiguous_strides
from glasstorch.jit.codegen.walk import Walk, plan_walk


def positions(sizes: Shape, strides: Shape) -> list[int]:
    """Where the elements lie, in the order of a walk."""
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*sizes)]


CASES: list[tuple[Shape, list[Shape]]] = [
    ((2, 3, 4), [(12, 4, 1), (12, 4, 1)]),
    ((2, 3, 4), [(0, 4, 1), (12, 4, 1)]),
    ((2, 3, 4), [(0, 1, 0), (12, 4, 1)]),
    ((2, 3, 4), [(1, 2, 6), (1, 2, 6)]),
    ((2, 3, 4), [(12, 4, 1), (1, 2, 6)]),
    ((2, 1, 4), [(4, 9, 1), (4, 4, 1)]),
    ((1, 1), [(1, 1), (1, 1)]),
    ((), [(), ()]),
    ((5,), [(3,), (1,)]),
]


@pytest.mark.parametrize(("shape", "strides"), CASES)
def test_arrays_stay_in_step_and_every_element_is_met(shape: Shape, strides: list[Shape]) -> None:
    walk = plan_walk(shape, strides)
    found = list(zip(*(positions(walk.sizes, moves) for moves in walk.strides), strict=True))
    assert sorted(found) == sorted(zip(*(positions(shape, moves) for moves in strides), strict=True))


@pytest.mark.parametrize(("shape", "strides"), CASES)
def test_the_last_array_is_walked_through_as_it_lies(shape: Shape, strides: list[Shape]) -> None:
    walk = plan_walk(shape, strides)
    visited = positions(walk.sizes, walk.strides[-1])
    assert visited == sorted(visited)


def test_what_lies_in_a_row_is_one_dimension() -> None:
    shape = (2, 3, 4)
    assert plan_walk(shape, [contiguous_strides(shape)] * 2) == Walk((24,), ((1,), (1,)))


def test_a_bias_leaves_two() -> None:
    assert plan_walk((2, 3, 4), [(0, 0, 1), (12, 4, 1)]) == Walk((6, 4), ((0, 1), (4, 1)))


def test_a_single_element_is_one_dimension() -> None:
    assert plan_walk((1, 1), [(5, 5), (1, 1)]) == Walk((1,), ((0,), (0,)))
