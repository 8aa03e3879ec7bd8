"""Is the multiply-add rounded once?"""

from fractions import Fraction

import numpy as np
import pytest

from glasstorch.core.random.fused import fused_multiply_add


def nearest(exact: Fraction, dtype: type[np.floating]) -> np.floating:
    """The value of the dtype that is nearest to an exact number; the even one of two equally near."""
    guess = dtype(float(exact))
    candidates = [np.nextafter(guess, dtype(-np.inf)), guess, np.nextafter(guess, dtype(np.inf))]
    bits = np.dtype(f"i{guess.itemsize}")
    return min(candidates, key=lambda c: (abs(Fraction(float(c)) - exact), int(c.view(bits)) & 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_result_is_the_nearest_number_to_the_exact_one(dtype: type[np.floating]) -> None:
    random = np.random.default_rng(0)
    differs = 0
    for scale, shift in [(0.1, 0.1), (-0.2, 0.1), (1003.0, -3.0), (1e-3, 1000.0), (1.7, 0.3), (1e9, 1e-9)]:
        a, b = dtype(scale), dtype(shift)
        x = random.random(300).astype(dtype)
        fused = fused_multiply_add(x, a, b)
        assert fused.dtype == dtype
        for value, result in zip(x, fused, strict=True):
            exact = Fraction(float(value)) * Fraction(float(a)) + Fraction(float(b))
            assert result == nearest(exact, dtype), (value, a, b)
        differs += int((fused != x * a + b).sum())
    assert differs > 100  # rounding twice would not have done


def test_a_sum_on_the_middle_between_two_float32_goes_to_the_side_of_the_lost_part() -> None:
    # 1 + 2**-24 is the middle between 1 and its neighbour; the product adds what a float64 sum would lose.
    x = np.array([2.0**-24 * (1 + 2.0**-23)], np.float32)
    almost = fused_multiply_add(x, np.float32(1 + 2.0**-23), np.float32(1.0))
    assert almost[0] == np.nextafter(np.float32(1), np.float32(2))
    tiny = np.array([2.0**-70], np.float32)
    middle = np.float32(2.0**-24)
    assert fused_multiply_add(np.array([1.0], np.float32), middle, np.float32(1.0))[0] == 1.0
    assert fused_multiply_add(tiny, np.float32(1.0), np.float32(1.0))[0] == 1.0
