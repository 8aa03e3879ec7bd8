"""Are special functions of many float32 numbers as exact as SciPy's, and the same at their edges?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import glasstorch
from glasstorch.kernels.cpu.special.sampled import FUNCTIONS, MIN_ELEMENTS, at, lines
from glasstorch.kernels.quiet import quietly

RANDOM = np.random.default_rng(0)
BITS = RANDOM.integers(0, 1 << 32, 30_000, dtype=np.uint32).view(np.float32)
BITS = BITS[np.isfinite(BITS)]
INPUTS = {
    "erfc": np.concatenate([np.linspace(-6, 9.2, 60_000), BITS]),
    "erfinv": np.concatenate([np.linspace(-1, 1, 60_000)[1:-1], 1 - np.arange(1, 2_000) * 2.0**-24]),
    "i0": np.linspace(-92, 92, 60_000),
    "i0e": np.concatenate([np.linspace(-40, 40, 60_000), BITS]),
    "i1": np.linspace(-92, 92, 60_000),
    "i1e": np.concatenate([np.linspace(-40, 40, 60_000), BITS]),
}
EDGES = np.array([0, -0.0, 1, -1, 2, -2, 95, -95, 3e38, 1e-40, -1e-40, np.inf, -np.inf, np.nan], np.float32)
LIKE_MANY = -(-MIN_ELEMENTS // len(EDGES))  # as often as it takes


def of(name: str, x: np.ndarray) -> np.ndarray:
    return getattr(glasstorch.special, name)(glasstorch.from_numpy(x)).numpy()  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_numbers_are_right_to_the_last_place(name: str) -> None:
    x = INPUTS[name].astype(np.float32)
    with np.errstate(all="ignore"):
        true = getattr(special, name)(x.astype(np.float64))
        off = np.abs(of(name, x) - true) / np.spacing(np.abs(true).astype(np.float32))
    normal = (np.abs(true) > 1.2e-38) & (np.abs(true) < 3.4e38)
    assert normal.sum() > 50_000
    assert off[normal].max() < 0.8


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_large_tensor_has_the_edges_of_a_small_one(name: str) -> None:
    few, many = of(name, EDGES), of(name, np.tile(EDGES, LIKE_MANY))
    np.testing.assert_allclose(many, np.tile(few, LIKE_MANY), rtol=2e-7)
    number = ~np.isnan(many)
    np.testing.assert_array_equal(np.signbit(many[number]), np.signbit(np.tile(few, LIKE_MANY)[number]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_erfinv_of_a_negative_zero_is_one(dtype: str) -> None:
    zeros = glasstorch.tensor([0.0, -0.0], dtype=getattr(glasstorch, dtype))
    assert zeros.erfinv().signbit().tolist() == zeros.erfinv_().signbit().tolist() == [False, True]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_edges_of_a_large_tensor_are_pytorchs(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    x = np.tile(EDGES, LIKE_MANY)
    found, wanted = of(name, x), getattr(torch.special, name)(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=2e-6)
    number = ~np.isnan(found)
    np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(wanted[number]))


def test_a_function_may_write_over_what_it_reads() -> None:
    x = RANDOM.uniform(-1, 1, 3 * MIN_ELEMENTS).astype(np.float32)
    written = glasstorch.from_numpy(x.copy()).erfinv_().numpy()
    np.testing.assert_array_equal(written, of("erfinv", x))


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
