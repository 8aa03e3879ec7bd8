"""Are numbers drawn one at a time those that are drawn together, and does the stream go on behind them?"""

from __future__ import annotations

import numpy as np
import pytest

from glasstorch.core.random.single_draws import FIRST_BLOCK, drawn_one_by_one
from tests.core.random.torch_numbers import stream


@pytest.mark.parametrize("count", [0, 1, FIRST_BLOCK - 1, FIRST_BLOCK, FIRST_BLOCK + 1, 3000])
def test_uniform_numbers_are_those_drawn_together(count: int) -> None:
    singly, together = stream(5), stream(5)
    with drawn_one_by_one(singly) as draws:
        numbers = [draws.uniform() for _ in range(count)]
    assert numbers == together.uniform(count, np.float64).tolist()
    assert np.array_equal(singly.state_bytes(), together.state_bytes())


@pytest.mark.parametrize("count", [1, 2, 7])
def test_normal_numbers_are_those_drawn_together_and_the_second_of_a_pair_waits(count: int) -> None:
    singly, together = stream(6), stream(6)
    for _ in range(2):
        with drawn_one_by_one(singly) as draws:
            numbers = [draws.normal() for _ in range(count)]
        assert numbers == together.normal(count, np.float64, contiguous=False).tolist()
    assert np.array_equal(singly.state_bytes(), together.state_bytes())


def test_an_error_leaves_the_stream_behind_the_last_number_and_unlocked() -> None:
    singly, together = stream(7), stream(7)
    with pytest.raises(ZeroDivisionError), drawn_one_by_one(singly) as draws:
        1 / (0 * draws.uniform())
    together.uniform(1, np.float64)
    assert singly.uniform(3, np.float64).tolist() == together.uniform(3, np.float64).tolist()
