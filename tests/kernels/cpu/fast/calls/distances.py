"""Which random calls reach the distances that are computed coordinate by coordinate?"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, laid_out, one_of
from tests.kernels.cpu.fast.held import Call

ORDERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf)


def forward(x: Tensor, y: Tensor, p: float) -> Tensor:
    return torch.cdist(x, y, p, compute_mode="donot_use_mm_for_euclid_dist")


def backward(grad: Tensor, x: Tensor, y: Tensor, p: float) -> Tensor:
    return torch.ops.aten._cdist_backward(grad, x, y, p, forward(x, y, p))


def size_of_pulls(grad: Tensor, x: Tensor, y: Tensor, p: float) -> Tensor:
    """The sum of the absolute values of what is added."""
    distances = forward(x, y, p)
    gaps = (x.unsqueeze(-2) - y.unsqueeze(-3)).abs()
    steep = (gaps / distances.unsqueeze(-1)) ** (p - 1) if p not in (0, 1, inf) else torch.ones_like(gaps)
    return (torch.where(gaps == 0, 0, steep) * grad.abs().unsqueeze(-1)).sum(-2)


def matrices(rng: np.random.Generator, p: float) -> tuple[Tensor, Tensor]:
    """One large matrix, or many small ones; some rows are in both. Infinite distances are drawn too."""
    dtype, width = one_of(rng, FLOATS), int(one_of(rng, [*range(20), 100]))
    batch: Any
    batch, most = one_of(rng, [((), 200), ((3,), 40), ((3,), 70), ((300,), 5)])
    x = laid_out(rng, [*batch, int(rng.integers(0 if not rng.integers(9) else 1, most)), width], dtype)
    y = laid_out(rng, [*batch[: rng.integers(2)], int(rng.integers(1, most)), width], dtype)
    if rng.integers(2) and x.shape[-2]:
        y = torch.cat([(x if x.ndim == y.ndim else x[0])[..., :1, :], y], -2)
    return (x.mul(4).round(), y.mul(4).round()) if p == inf else (x, y)  # the largest of differences without rounding


def distances(rng: np.random.Generator) -> Call:
    p = one_of(rng, ORDERS)
    x, y = matrices(rng, p)
    if x.numel() and not rng.integers(5):
        x = x * torch.where(torch.rand(x.shape) < 0.1, inf, 1.0).to(x.dtype)
    return Call(forward, (x, y, p), scale=forward)


def pulls(rng: np.random.Generator) -> Call:
    p = one_of(rng, ORDERS)
    x, y = matrices(rng, p)
    shape = [*x.shape[:-1], y.shape[-2]]
    return Call(backward, (laid_out(rng, shape, x.dtype.name), x, y, p), scale=size_of_pulls)


CALLS = {"cpu.distances.lengths": distances, "cpu.distances.pulled": pulls}
