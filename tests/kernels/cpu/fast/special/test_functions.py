"""Do lines between samples meet the samples, and stay near the function between them?"""

from __future__ import annotations

import numpy as np
import pytest

from glasstorch.kernels.cpu.fast.special.functions import at, lines
from glasstorch.kernels.quiet import quietly


def test_lines_meet_the_values_and_stay_near_between_them() -> None:
    place = np.linspace(0, 10, 401)
    found = at(place.copy(), lines(np.square(np.arange(11.0))))
    np.testing.assert_allclose(found[::40], np.square(np.arange(11.0)), atol=1e-12)
    off = found - np.square(place)
    assert off.min() > -1e-12
    assert off.max() == pytest.approx(0.25)  # the second derivative is 2, an eighth of it


def test_the_last_line_goes_on_and_nan_stays() -> None:
    place = np.array([3.0, 7.5, np.inf, np.nan])  # log(1 - x ** 2), where x is 1, is at no end
    found = quietly(at, place, lines(np.array([5.0, 6.0, 8.0, 9.0]), first=1.0, last=10.0))
    np.testing.assert_array_equal(found, [10.0, 19.0, np.inf, np.nan])
