"""Is the fast order of elements the stable one, for every dtype, with NaN last and both zeros equal?"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from glasstorch.kernels.cpu.fast.sorting import ordered_keys, picked, sorted_indices
from glasstorch.kernels.cpu.fast.thresholds import ARGSORT_UP_TO
from glasstorch.kernels.cpu.sorting import sort

WHOLE = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATING = ("float16", "bfloat16", "float32", "float64")
RANDOM = np.random.default_rng(3)


def elements(name: str, shape: tuple[int, ...], spread: float) -> np.ndarray:
    values = np.round(RANDOM.normal(size=shape) * spread)
    if name in WHOLE:
        return np.abs(values).astype(name) if name.startswith("u") else values.astype(name)
    for special in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0):
        values[RANDOM.random(shape) < 0.03] = special
    return values.astype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


@pytest.mark.parametrize("name", WHOLE + FLOATING)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", [(3 * ARGSORT_UP_TO,), (40, 100), (2, 3, 1000)])
def test_large_arrays_are_ordered_as_small_ones(name: str, descending: bool, shape: tuple[int, ...]) -> None:
    array = elements(name, shape, 50)
    np.testing.assert_array_equal(sorted_indices(array, descending), sort.sorted_indices.plain(array, descending))


@pytest.mark.parametrize("name", ["int64", "uint64", "float64"])
@pytest.mark.parametrize("descending", [False, True])
def test_numbers_of_64_bits_far_apart_keep_their_order_where_they_are_equal(name: str, descending: bool) -> None:
    array = RANDOM.integers(0, 99, (2, ARGSORT_UP_TO)).astype(name) * np.array(2**50, name)
    np.testing.assert_array_equal(sorted_indices(array, descending), sort.sorted_indices.plain(array, descending))


def test_keys_order_as_numbers_do() -> None:
    numbers = np.array([-np.inf, -2.0, -1e-45, 0.0, 1e-45, 2.0, np.inf, np.nan], np.float32)
    keys = ordered_keys(numbers).tolist()
    assert keys == sorted(keys)
    assert len(set(keys)) == len(numbers)
    assert ordered_keys(np.array([0.0, np.nan])).tolist() == ordered_keys(np.array([-0.0, -np.nan])).tolist()


def test_elements_are_picked_from_their_own_row() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    places = np.array([3, 0]) + np.zeros((2, 3, 1), int)
    np.testing.assert_array_equal(picked(array, places), np.take_along_axis(array, places, -1))
