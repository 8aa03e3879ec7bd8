"""Which random calls reach the reductions that are done piece by piece?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def absolute_sum(x: Tensor, *rest: object) -> Tensor:
    return x.abs().sum()


def reduced(rng: np.random.Generator) -> Call:
    """A sum of half precision, an extremum, or a count."""
    shape = sizes_of(rng, one_of(rng, [100, 100_000]), int(rng.integers(1, 4)))
    dtype = one_of(rng, ["float16", "bfloat16"])
    x, dim = laid_out(rng, shape, dtype), int(rng.integers(len(shape)))
    function = one_of(rng, [torch.sum, torch.amax, torch.count_nonzero])
    return Call(function, (x, dim), scale=absolute_sum if function is torch.sum else None)


CALLS = {"cpu.blocks.reduce_in_pieces": reduced}
