"""Are remainders and rounded quotients of float32 those of NumPy, and of PyTorch, for every kind of quotient?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu.fast.pointwise.steps import EXACT_BELOW
from glasstorch.kernels.cpu.fast.thresholds import DIVISION_IN_DOUBLE_FROM

EDGES = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, 0.1, 1e10, -3e38, 1e-38, 2.0**24, np.inf, -np.inf, np.nan)
OPERATORS = ("fmod", "remainder", "floor_divide")
Pair = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def pairs() -> Iterator[Pair]:
    edges = np.array(list(product(EDGES, EDGES)), np.float32).T
    yield tuple(np.tile(edges, DIVISION_IN_DOUBLE_FROM // 100))  # type: ignore[misc]
    random = np.random.default_rng(0)
    for scale in (1, 1e3, EXACT_BELOW, 1e9):
        left, right = (random.normal(size=40_000).astype(np.float32) for _ in range(2))
        left *= np.float32(scale)
        yield left, right
        yield np.rint(left), np.rint(right * 5)  # whole numbers, and divisors of 0
        yield left[:1] * right, right  # near multiples


@pytest.mark.parametrize("name", OPERATORS)
def test_float32_is_divided_as_pytorch_divides_it(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    for x, y in pairs():
        ours, theirs = (
            getattr(library, name)(library.from_numpy(x), library.from_numpy(y)).numpy()
            for library in (glasstorch, torch)
        )
        # PyTorch's vectors give NaN for some remainders of quotients beyond float32, and its scalars a number.
        told = ~np.isnan(theirs) | np.isnan(ours)
        np.testing.assert_array_equal(ours[told], theirs[told])
        np.testing.assert_array_equal(np.signbit(ours[theirs == 0]), np.signbit(theirs[theirs == 0]))


@pytest.mark.parametrize("name", OPERATORS)
def test_a_block_with_a_lost_quotient_gives_what_numpy_gives(name: str) -> None:
    x = np.linspace(-50, 50, 1000, dtype=np.float32)
    mixed = np.where(np.arange(1000) % 7, np.float32(0.3), np.float32(1e-30))
    for divisor in (mixed, np.float32(np.inf), np.float32(1e-30), np.float32(-0.7)):
        y = np.broadcast_to(divisor, x.shape).copy()
        ours = getattr(glasstorch, name)(glasstorch.from_numpy(x), glasstorch.from_numpy(y)).numpy()
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(ours, getattr(np, name)(x, y))
    half = glasstorch.from_numpy(x).half()
    np.testing.assert_array_equal(
        getattr(glasstorch, name)(half, 0.75).numpy(), getattr(np, name)(half.numpy(), np.float16(0.75))
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_numbers_on_either_side_and_writing_in_place(name: str) -> None:
    x = glasstorch.tensor([1.5, -2.5, 0.75] * DIVISION_IN_DOUBLE_FROM)
    function = getattr(glasstorch, name)
    right, tensors = function(x, 0.7), function(x, glasstorch.full_like(x, 0.7))
    assert right.tolist() == tensors.tolist() == getattr(x.clone(), f"{name}_")(0.7).tolist()
    left = function(glasstorch.tensor(2.0), x)
    assert left.tolist() == getattr(np, name)(np.float32(2), x.numpy()).tolist()
