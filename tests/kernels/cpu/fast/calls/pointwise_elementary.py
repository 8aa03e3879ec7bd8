"""Which random calls reach the fast sums of powers?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def sum_of_powers(rng: np.random.Generator) -> Call:
    shape = sizes_of(rng, one_of(rng, [0, 50, 5_000, 50_000]), int(rng.integers(1, 3)))
    dtype = one_of(rng, [*FLOATS, *HALVES])
    x, y = (laid_out(rng, shape, dtype, one_of(rng, [0, 0.05])) * one_of(rng, [1, 100]) for _ in range(2))
    return Call(one_of(rng, [torch.logaddexp, torch.logaddexp2]), (x, y))


CALLS = {"cpu.pointwise.elementary.log_add_exp": sum_of_powers}
