"""Are exp, log, expm1, tanh and erf of float32 within one unit in the last place, over the whole range?

The truth is a computation in float64, which for each of them is right to 1e-15; it is held against mpmath, too.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import glasstorch

Array = np.ndarray[Any, Any]

FUNCTIONS = ("exp", "log", "expm1", "tanh", "erf")
STRIDE = 1 << 13  # of the bits of float32: half a million numbers of every sign and exponent


def in_double(name: str) -> Callable[[Array], Array]:
    return getattr(import_module("scipy.special") if name == "erf" else np, name)  # type: ignore[no-any-return]


def everywhere(name: str) -> Array:
    """Numbers of all exponents, and many where the function bends."""
    bits = np.arange(0, 1 << 32, STRIDE, dtype=np.uint64).astype(np.uint32) + np.uint32(1234)
    bent = np.random.default_rng(0).uniform(-20, 20, 200_000).astype(np.float32)
    numbers = np.concatenate([bits.view(np.float32), bent, np.abs(bent) / 10])
    return numbers[np.isfinite(numbers) & ((numbers > 0) | (name != "log"))]


def units_off(name: str, x: Array) -> Array:
    """By how many units in the last place of the true value each result is wrong."""
    with np.errstate(all="ignore"):
        true = in_double(name)(x.astype(np.float64))
        nearest = true.astype(np.float32)
    found = getattr(glasstorch, name)(glasstorch.from_numpy(x)).numpy().astype(np.float64)
    within = np.isfinite(nearest)
    assert (found[~within] == nearest[~within]).all(), "what overflows is infinite"
    return np.asarray(np.abs(found[within] - true[within]) / np.spacing(np.abs(nearest[within])).astype(np.float64))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_within_one_unit_in_the_last_place(name: str) -> None:
    assert units_off(name, everywhere(name)).max() <= 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_tensors_too(name: str) -> None:
    x = everywhere(name)[:: 1 << 9]
    assert x.size < 1 << 15  # a block
    assert max(units_off(name, part).max() for part in np.array_split(x, 9)) <= 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_truth_is_right(name: str) -> None:
    mpmath: Any = import_module("mpmath")
    x = np.random.default_rng(1).uniform(0.01, 5, 50)
    exact = np.array([float(getattr(mpmath, name)(float(one))) for one in x])
    np.testing.assert_allclose(in_double(name)(x), exact, rtol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ends_are_as_in_pytorch(name: str, require: Callable[[str], Any]) -> None:
    ends = [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-45, -1e-45]
    ours, theirs = (getattr(library, name)(library.tensor(ends)) for library in (glasstorch, require("torch")))
    assert str(ours.tolist()) == str(theirs.tolist())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_in_place_and_out_forms_are_the_same(name: str) -> None:
    x = glasstorch.linspace(0.1, 3, 5000)
    wanted = getattr(glasstorch, name)(x)
    assert getattr(glasstorch, name)(x, out=glasstorch.empty(0)).equal(wanted)
    assert getattr(x.clone(), f"{name}_")().equal(wanted)
    assert getattr(x[::2], name)().equal(wanted[::2])
