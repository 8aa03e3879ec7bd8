"""Have numbers drawn by rejection the distribution that they are drawn for?

That they are PyTorch's is looked at in tests/kernels/cpu/random/test_elementwise.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from glasstorch.core.random import rejection
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.single_draws import drawn_one_by_one
from tests.core.random.torch_numbers import stream

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
COUNT = 2000


def moments(numbers: list[float]) -> tuple[float, float]:
    return float(np.mean(numbers)), float(np.var(numbers))


def near(found: tuple[float, float], mean: float, variance: float) -> bool:
    """Whether a sample's mean and variance lie within what chance makes likely; the seed is fixed."""
    within = 5 * math.sqrt(variance / COUNT)
    return abs(found[0] - mean) < within and abs(found[1] / variance - 1) < 0.3


@pytest.mark.parametrize("concentration", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_gamma_numbers_have_mean_and_variance_of_their_concentration(concentration: float, dtype: np.dtype) -> None:
    with drawn_one_by_one(stream(1)) as draws:
        numbers = [rejection.gamma(concentration, dtype, draws) for _ in range(COUNT)]
    assert near(moments(numbers), concentration, concentration)


@pytest.mark.parametrize("rate", [0.5, 9.0, 10.0, 300.0])
def test_poisson_numbers_have_mean_and_variance_of_their_rate(rate: float) -> None:
    with drawn_one_by_one(stream(2)) as draws:
        numbers = [rejection.poisson(rate, draws) for _ in range(COUNT)]
    assert near(moments(numbers), rate, rate)


@pytest.mark.parametrize("probability", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("count", [7.0, 90.0, 5000.0])
def test_binomial_numbers_have_the_mean_and_variance_of_trials(count: float, probability: float) -> None:
    with drawn_one_by_one(stream(3)) as draws:
        numbers = [rejection.binomial(count, probability, DOUBLE, draws) for _ in range(COUNT)]
    assert near(moments(numbers), count * probability, count * probability * (1 - probability))
    assert 0 <= min(numbers) <= max(numbers) <= count


def test_what_is_certain_takes_no_random_numbers() -> None:
    source = stream(4)
    before = source.state_bytes()
    with drawn_one_by_one(source) as draws:
        assert rejection.gamma(0.0, DOUBLE, draws) == 0
        assert rejection.poisson(0.0, draws) == 0
        assert [rejection.binomial(5.0, p, DOUBLE, draws) for p in (0.0, 1.0)] == [0, 5]
        assert math.isnan(rejection.binomial(5.0, math.nan, DOUBLE, draws))
        assert math.isnan(rejection.gamma(math.nan, DOUBLE, draws))
        for rate in (-1.0, math.nan, math.inf):
            with pytest.raises(RandomNumberError, match="invalid Poisson rate"):
                rejection.poisson(rate, draws)
    assert np.array_equal(before, source.state_bytes())
