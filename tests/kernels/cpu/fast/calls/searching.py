"""Which random calls reach the fast search?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def search(rng: np.random.Generator) -> Call:
    """Values in one sequence or in many, which may end in NaN."""
    dtype = one_of(rng, ["float32", "float64", "float16", "bfloat16", "int64", "int8"])
    shape = sizes_of(rng, one_of(rng, [50, 5_000, 80_000]), int(rng.integers(1, 4)))
    values = laid_out(rng, shape, dtype, one_of(rng, [0, 0.1]))
    alone = rng.integers(2)
    sequence = laid_out(rng, [*([] if alone else shape[:-1]), int(rng.integers(1, 40))], dtype, one_of(rng, [0, 0.01]))
    how = {"right": bool(rng.integers(2)), "out_int32": bool(rng.integers(2))}
    if alone and rng.integers(2):
        return Call(torch.bucketize, (values, sequence.sort()[0]), how)
    if rng.integers(2):
        return Call(torch.searchsorted, (sequence.sort()[0], values), how)
    return Call(torch.searchsorted, (sequence, values), {**how, "sorter": sequence.argsort()})


CALLS = {"cpu.searching.positions": search}
