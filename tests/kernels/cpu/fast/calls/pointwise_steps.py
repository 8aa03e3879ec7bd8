"""Which random calls reach the division of float32 numbers in float64, and the remainder by a positive number?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def division(rng: np.random.Generator) -> Call:
    """Quotients on either side of 2**20, whole ones, and zeros of either sign."""
    shape = sizes_of(rng, one_of(rng, [0, 50, 5_000, 50_000]), int(rng.integers(1, 3)))
    dtype = one_of(rng, ["float32", "float32", "float64", "float16", "bfloat16", "int64"])
    x = laid_out(rng, shape, dtype, one_of(rng, [0, 0.01])) * one_of(rng, [1, 100, 1_000_000])
    y = laid_out(rng, shape, dtype, one_of(rng, [0, 0.01]))
    if rng.integers(3) == 0:
        x, y = x.round(), (5 * y).round()
    if rng.integers(4) == 0:
        y = one_of(rng, [0.7, -3, 1e-30])
    return Call(one_of(rng, [torch.fmod, torch.remainder, torch.floor_divide]), (x, y))


def remainder(rng: np.random.Generator) -> Call:
    """By a number of either sign, and in place; dividends with zeros of either sign, and multiples of the divisor."""
    shape = sizes_of(rng, one_of(rng, [1, 8, 300, 50_000]), int(rng.integers(1, 3)))
    x = laid_out(rng, shape, one_of(rng, ["float32", "float64", "float16"]), one_of(rng, [0, 0.1]))
    if rng.integers(2):
        x = (5 * x).round()
    number = one_of(rng, [2, 1, 0.7, 1e-30, 1e300, -3, 0, -0.0, float("inf"), float("-inf"), float("nan")])
    return Call(one_of(rng, [torch.remainder, torch.Tensor.remainder_]), (x, number))


CALLS = {"cpu.pointwise.steps.whole_division": division, "cpu.pointwise.steps.remainder_of_floats": remainder}
