"""Do the shape functions of indexing say where the picked sizes go?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.operators.shapes.indexing import advanced as indexing


def indices(*shapes: tuple[int, ...] | None) -> list[glasstorch.Tensor | None]:
    return [None if s is None else glasstorch.zeros(s, dtype=glasstorch.int64) for s in shapes]


@pytest.mark.parametrize(
    ("given", "shape"),
    [
        ([(5,)], (5, 3, 4)),
        ([None, (5,)], (2, 5, 4)),
        ([(5,), (1,)], (5, 4)),
        ([None, (2, 5), (5,)], (2, 2, 5)),
        ([(5,), None, (5,)], (5, 3)),
        ([()], (3, 4)),
        ([(0,)], (0, 3, 4)),
    ],
)
def test_the_place_of_what_is_picked(given: list[tuple[int, ...] | None], shape: tuple[int, ...]) -> None:
    assert indexing.plan_of((2, 3, 4), indices(*given)).shape == shape


def test_a_mask_speaks_of_all_its_dimensions() -> None:
    mask = glasstorch.tensor([[True, False, True], [False, False, True]])
    assert indexing.plan_of((2, 3, 4), [mask]).shape == (3, 4)
    assert indexing.picks_of((2, 3, 4), [mask]) == [(3,), (3,)]
    with pytest.raises(IndexError, match=r"mask \[2, 3\] at index 1 .* tensor \[2, 4\] at index 1"):
        indexing.plan_of((2, 4), [mask])


def test_no_index_is_no_indexing() -> None:
    x = glasstorch.zeros(2)
    for given in ([], [None]):
        with pytest.raises(IndexError, match="at least one index must be provided"):
            glasstorch.operators.generated.functions.index(x, given)


def test_leading_ones_do_not_count() -> None:
    assert indexing.without_leading_ones((1, 1, 2, 1)) == (2, 1)
    assert indexing.without_leading_ones((1, 1)) == ()


def test_scatter_is_row_major_and_index_put_keeps_the_layout() -> None:
    x = glasstorch.zeros(3, 2).t()
    at = glasstorch.tensor([[0]])
    assert indexing.scatter_value(x, 0, at, 1).strides is None
    assert indexing.index_put(x, [at], glasstorch.tensor(1.0), False).strides == (1, 2)


def test_a_mask_that_does_not_go_with_the_tensor_is_named_first() -> None:
    with pytest.raises(RuntimeError, match=r"tensor a \(2\) must match the size of tensor b \(3\)"):
        glasstorch.masked_select(glasstorch.ones(3), glasstorch.tensor([True, False]))
