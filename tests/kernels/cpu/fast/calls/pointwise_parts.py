"""Which random calls reach the fast replacement of non-finite numbers?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def replacement(rng: np.random.Generator) -> Call:
    shape = sizes_of(rng, one_of(rng, [0, 50, 5_000, 50_000]), int(rng.integers(1, 3)))
    x = laid_out(rng, shape, one_of(rng, [*FLOATS, *HALVES]), one_of(rng, [0, 0, 0.05]))
    if rng.integers(4) == 0 and x.dtype.name in FLOATS:
        x = torch.complex(x, x.flip(0))
    numbers = [one_of(rng, [None, 0.5, -7.0, 1e300, -1e300]) for _ in range(3)]
    return Call(torch.nan_to_num, (x, *numbers))


CALLS = {"cpu.pointwise.parts.replace": replacement}
