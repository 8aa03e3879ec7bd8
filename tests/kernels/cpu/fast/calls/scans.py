"""Which random calls reach the fast scans?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of, tensor
from tests.kernels.cpu.fast.held import Call


def scan(rng: np.random.Generator) -> Call:
    function = one_of(rng, [torch.cumsum, torch.cumprod, torch.logcumsumexp])
    dtypes = ("float32", "float64", "float16", "bfloat16", "int64", "int32")
    dtype = one_of(rng, dtypes[:4] if function is torch.logcumsumexp else dtypes)
    shape = sizes_of(rng, one_of(rng, [50, 5_000, 100_000]), int(rng.integers(1, 4)))
    return Call(function, (laid_out(rng, shape, dtype, one_of(rng, [0, 0, 0.001])), int(rng.integers(len(shape)))))


def running_extremum(rng: np.random.Generator) -> Call:
    large = rng.integers(20) == 0
    shape = sizes_of(rng, 1_100_000 if large else one_of(rng, [50, 5_000, 100_000]), int(rng.integers(1, 4)))
    dtype = one_of(rng, ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
    x = laid_out(rng, shape, dtype, one_of(rng, [0, 0.001, 0.1]))
    return Call(one_of(rng, [torch.cummax, torch.cummin]), (x, int(rng.integers(len(shape)))))


def complex_sums(rng: np.random.Generator) -> Call:
    shape = [int(rng.integers(2, 1000)), *[int(rng.integers(1, 20))] * int(rng.integers(2))]
    return Call(torch.logcumsumexp, (tensor(rng, shape, one_of(rng, ["complex64", "complex128"])), 0))


CALLS = {
    "cpu.scans.accumulated": scan,
    "cpu.scans.running_extremum": running_extremum,
    "cpu.scans.complex_sums": complex_sums,
}
