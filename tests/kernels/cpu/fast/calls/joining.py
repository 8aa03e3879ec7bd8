"""Which random calls reach the fast way to join tensors?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "uint8", "bool")


def joined(rng: np.random.Generator) -> Call:
    """Up to five tensors, mostly of one dtype, of different sizes along the dimension; some are empty."""
    dims = int(rng.integers(1, 4))
    dim, dtypes = int(rng.integers(dims)), [one_of(rng, DTYPES)]
    if rng.integers(4) == 0:
        dtypes.append(one_of(rng, DTYPES))
    shape = sizes_of(rng, one_of(rng, [30, 1_000, 50_000]), dims)
    tensors = []
    for _ in range(int(rng.integers(1, 6))):
        shape[dim] = int(rng.integers(shape[dim] + 2))
        tensors.append(laid_out(rng, shape if rng.integers(10) else [0], one_of(rng, dtypes), 0.1))
    return Call(torch.cat, (tensors, dim))


CALLS = {"cpu.joining.join": joined}
