"""Which random calls reach the fast ways of half precision?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from tests.kernels.cpu.fast.calls.drawing import HALVES, laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def conversion(rng: np.random.Generator) -> Call:
    """A cast, at any size on either side of the thresholds."""
    dtypes = [one_of(rng, HALVES), one_of(rng, ["float16", "float32", "float64"])]
    if rng.integers(2):
        dtypes.reverse()
    x = laid_out(rng, sizes_of(rng, one_of(rng, [100, 10_000, 100_000]), 2), dtypes[0], 0.01)
    return Call(torch.Tensor.to, (x * one_of(rng, [1e-4, 1, 1e5]), getattr(torch, dtypes[1])))


def product(rng: np.random.Generator) -> Call:
    """A product of matrices, which are cast to float32 and back."""
    rows, inner, columns = (int(rng.integers(1, 300)) for _ in range(3))
    dtype = one_of(rng, HALVES)
    return Call(torch.mm, (laid_out(rng, [rows, inner], dtype), laid_out(rng, [inner, columns], dtype)))


def pointwise(rng: np.random.Generator) -> Call:
    """A loop of one step, or of several, on one or two tensors."""
    shape, dtype = sizes_of(rng, one_of(rng, [100, 10_000, 300_000]), 2), one_of(rng, HALVES)
    x = laid_out(rng, shape, dtype, 0.001)
    if rng.integers(2):
        return Call(one_of(rng, [torch.exp, torch.sigmoid, torch.tanh, torch.erf]), (x,))
    return Call(one_of(rng, [torch.add, torch.mul, torch.div]), (x, laid_out(rng, shape, dtype, 0.001)))


CALLS = {
    "halves.cast": conversion,
    "halves.as_dtype": product,
    "halves.as_single": product,
    "halves.run_on_halves": pointwise,
}
