"""Which random calls reach the loops that run block by block?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def several_steps(rng: np.random.Generator) -> Call:
    """A loop of several steps over tensors of two dtypes."""
    shape = sizes_of(rng, one_of(rng, [100, 100_000]), 2)
    x, y, z = (laid_out(rng, shape, one_of(rng, ["float32", "float64", "int64"]), 0.001) for _ in range(3))
    return Call(one_of(rng, [torch.lerp, torch.addcmul, torch.where]), (x.double(), y.double(), z.double()))


CALLS = {"iterator.in_blocks": several_steps}
