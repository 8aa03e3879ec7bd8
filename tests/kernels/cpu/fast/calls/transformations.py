"""Which random calls reach the fast ways to roll and to keep triangles?"""

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


def kept(rng: np.random.Generator) -> Call:
    """A triangle of a matrix or of a batch of them, new or in place."""
    shape = sizes_of(rng, one_of(rng, [30, 1_000, 50_000]), int(rng.integers(2, 4)))
    shape[-2] *= int(rng.integers(10) > 0)
    functions = [torch.tril, torch.triu, torch.Tensor.tril_, torch.Tensor.triu_]
    return Call(one_of(rng, functions), (laid_out(rng, shape, one_of(rng, DTYPES), 0.1), int(rng.integers(-40, 40))))


CALLS = {"aten::roll": rolled, "cpu.transformations.keep": kept}
