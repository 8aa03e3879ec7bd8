"""Which random calls reach the reductions that are done piece by piece?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def reduced(rng: np.random.Generator) -> Call:
    """A hash over some dimensions."""
    shape = sizes_of(rng, one_of(rng, [100, 100_000]), int(rng.integers(1, 4)))
    x = laid_out(rng, shape, one_of(rng, ["float16", "float32", "float64", "int64", "uint8"]))
    return Call(torch.hash_tensor, (x, [int(rng.integers(len(shape)))]))


CALLS = {"cpu.blocks.reduce_in_pieces": reduced}
