"""What sizes do places have that are drawn by weight?"""

import pytest

import glasstorch
from glasstorch.core.errors import ShapeError
from glasstorch.operators.shapes.random import MOST_CATEGORIES, multinomial


def test_each_row_of_weights_gives_a_row_of_places() -> None:
    result = multinomial(glasstorch.ones(4, 3), 2, False, None)
    assert (result.shape, result.dtype) == ((4, 2), glasstorch.int64)
    assert multinomial(glasstorch.ones(3), 9, True, None).shape == (9,)


def test_more_categories_than_float32_could_count_are_refused() -> None:
    assert multinomial(glasstorch.empty(MOST_CATEGORIES, device="meta"), 1, False, None).shape == (1,)
    with pytest.raises(ShapeError, match=r"number of categories cannot exceed 2\^24, got 16777217"):
        multinomial(glasstorch.empty(MOST_CATEGORIES + 1, device="meta"), 1, False, None)
