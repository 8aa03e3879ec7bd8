"""Which random calls reach the fast histograms?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, laid_out, one_of, tensor
from tests.kernels.cpu.fast.held import Call


def nothing_is_rounded(*args: object, **kwargs: object) -> Tensor:
    return torch.zeros((), dtype=torch.float64)


def counted(rng: np.random.Generator) -> Call:
    """Numbers or points, by bins or edges, some of them outside, with weights or without."""
    total, dims, dtype = one_of(rng, [0, 50, 5_000, 80_000]), int(rng.integers(1, 4)), one_of(rng, FLOATS)
    x = laid_out(rng, [total, dims], dtype, one_of(rng, [0, 0.01]))
    if not rng.integers(3):
        numbers = x.to(one_of(rng, [torch.float16, torch.bfloat16, x.dtype]))
        return Call(torch.histc, (numbers, int(rng.integers(1, 60)), -1, 2), {}, nothing_is_rounded, True)
    weight = one_of(rng, [None, tensor(rng, [total], dtype).abs()])
    how: dict[str, Any] = {"weight": weight, "density": bool(rng.integers(2))}
    if rng.integers(2):
        bins: list[Any] = [tensor(rng, [int(rng.integers(2, 9))], dtype).sort()[0] for _ in range(dims)]
    else:
        bins, how["range"] = [int(rng.integers(1, 9)) for _ in range(dims)], [-1.0, 2.0] * dims
    scale = nothing_is_rounded if weight is None else None
    if dims > 1:
        return Call(torch.histogramdd, (x, bins), how, scale, True)
    return Call(torch.histogram, (x.reshape(-1), bins[0]), how, scale, True)


CALLS = {"cpu.statistics.in_bins": counted}
