"""Are the float32 functions of normal numbers accurate?"""

import numpy as np

from glasstorch.core.random import cephes


def units_off(value: np.ndarray, exact: np.ndarray) -> float:
    """The largest error, in units of the last place of the exact value."""
    return float((np.abs(value - exact) / np.spacing(np.abs(exact).astype(np.float32))).max())


def test_logarithm_is_accurate_on_everything_a_uniform_number_can_be() -> None:
    x = (np.arange(1, 2**24, 97) / 2**24).astype(np.float32)
    assert units_off(cephes.log(x), np.log(x.astype(np.float64))) < 1.5
    assert cephes.log(np.ones(1, np.float32)) == 0


def test_sine_and_cosine_are_accurate_over_a_full_turn() -> None:
    angle = (np.arange(0, 2**24, 97) / 2**24 * 2 * np.pi).astype(np.float32)
    sine, cosine = cephes.sine_and_cosine(angle)
    # Near a zero the error is measured against one, not against the vanishing value.
    assert np.abs(sine - np.sin(angle.astype(np.float64))).max() < 1e-7
    assert np.abs(cosine - np.cos(angle.astype(np.float64))).max() < 1e-7
    assert (sine[0], cosine[0]) == (0, 1)
