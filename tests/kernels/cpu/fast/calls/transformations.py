"""Which random calls reach the fast way to roll?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "uint8", "bool")


def rolled(rng: np.random.Generator) -> Call:
    """A roll along several dimensions, of which one may come twice, or along one that does not exist."""
    shape = sizes_of(rng, one_of(rng, [30, 1_000, 50_000]), int(rng.integers(1, 5)))
    if rng.integers(10) == 0:
        shape[0] = 0
    dims = [int(rng.integers(-len(shape), len(shape) + (rng.integers(20) == 0))) for _ in range(rng.integers(5))]
    shifts = [int(rng.integers(-100, 100)) for _ in dims or [0]]
    return Call(torch.roll, (laid_out(rng, shape, one_of(rng, DTYPES), 0.1), shifts, dims))


CALLS = {"aten::roll": rolled}
