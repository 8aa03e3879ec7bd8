"""Which random calls reach the fast special functions?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, laid_out, one_of, sizes_of, tensor
from tests.kernels.cpu.fast.held import Call

BY_LINES = [torch.erfc, torch.erfinv, torch.i0, torch.special.i0e, torch.special.i1, torch.special.i1e]

BY_SCIPY = [torch.digamma, torch.special.entr, torch.special.erfcx, torch.special.log_ndtr, torch.special.ndtri]


def function(rng: np.random.Generator) -> Call:
    """A function of one number, or gammaincc."""
    shape = sizes_of(rng, one_of(rng, [0, 50, 5_000, 50_000]), int(rng.integers(1, 3)))
    dtype = one_of(rng, ["float32", "float32", "float64", "float16", "bfloat16", "int32"])
    x = laid_out(rng, shape, dtype, one_of(rng, [0, 0.01]))
    if rng.integers(5) == 0 and dtype == "float32":  # in float64, SciPy's own series is wrong by 50 units
        return Call(torch.special.gammaincc, (x.abs(), laid_out(rng, shape, dtype, 0.001).abs()), scale=one)
    return Call(one_of(rng, [torch.erf, *BY_LINES, *BY_SCIPY]), (x * one_of(rng, [1, 1, 3]),))


def one(a: Tensor, x: Tensor) -> Tensor:
    """The size of gammaincc, which is 1 - gammainc here and there."""
    return torch.ones_like(x)


def near_poles(n: int, x: Tensor) -> Tensor:
    """The size of trigamma, of which a quotient of a sine is the part below 1/2; its argument is rounded."""
    sine = torch.sin(np.pi * x)
    turned = (np.pi / sine) ** 2 * (1 + (np.pi * x / sine).abs())
    return torch.where(x < 0.5, turned, 0) + torch.polygamma(1, torch.where(x < 0.5, 1 - x, x))


def trigamma(rng: np.random.Generator) -> Call:
    shape = sizes_of(rng, one_of(rng, [50, 5_000]), int(rng.integers(1, 3)))
    x = tensor(rng, shape, one_of(rng, [*FLOATS, "float16"]), one_of(rng, [0, 0.01]))
    return Call(torch.polygamma, (1, x * one_of(rng, [1, 10])), scale=near_poles)


def error_function(rng: np.random.Generator) -> Call:
    """erf, of lines long enough for samples."""
    x = laid_out(rng, sizes_of(rng, one_of(rng, [0, 100, 5_000, 200_000]), int(rng.integers(1, 4))), "float32", 0.001)
    return Call(torch.erf, (x * one_of(rng, [1, 1, 3]),))


CALLS = {
    "cpu.special.error_function.erf": error_function,
    "cpu.special.functions.evaluate": function,
    "cpu.special.functions.trigamma": trigamma,
}
