"""Which random calls reach the fast copy?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "uint8", "bool")


def copied(rng: np.random.Generator) -> Call:
    """A copy of a tensor of zero to four dimensions, small or large, in the same order or another."""
    dims = int(rng.integers(5))
    shape = sizes_of(rng, one_of(rng, [1, 50, 1_000, 100_000]), dims) if dims else []
    if dims and rng.integers(10) == 0:
        shape[int(rng.integers(dims))] = 0
    formats = [torch.preserve_format, torch.contiguous_format, *[torch.channels_last] * (dims == 4)]
    x = laid_out(rng, shape, one_of(rng, DTYPES), 0.1)
    return Call(torch.clone, (x,), {"memory_format": one_of(rng, formats)})


def filled(rng: np.random.Generator) -> Call:
    """An operator that fills a copy at an index."""
    x = copied(rng).args[0]
    return Call(torch.index_fill, (x.flatten(), 0, torch.zeros(min(x.numel(), 1), dtype=torch.int64), 1))


CALLS = {"aten::clone": copied, "cpu.copies.clone": filled}
