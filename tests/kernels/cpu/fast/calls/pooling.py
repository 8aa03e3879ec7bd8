"""Which random calls reach the windows that are read as slices?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of
from tests.kernels.cpu.fast.held import Call

F = torch.nn.functional


def images(rng: np.random.Generator) -> tuple[Tensor, int]:
    """Planes of two or three dimensions, with a batch or without; sometimes a batch of none."""
    dims = int(rng.integers(2, 4))
    sizes = [int(n) for n in rng.integers(4, 12, dims)]
    batch = one_of(rng, [[3], [2, 3], [2, 3], [0, 3]])
    dtypes = FLOATS + HALVES if dims == 2 else FLOATS
    return laid_out(rng, [*batch, *sizes], one_of(rng, dtypes), one_of(rng, [0, 0, 0.01])), dims


def window(rng: np.random.Generator, dims: int) -> dict[str, Any]:
    kernel = [int(n) for n in rng.integers(1, 4, dims)]
    return {
        "kernel_size": kernel,
        "stride": [int(n) for n in rng.integers(1, 4, dims)],
        "padding": [int(rng.integers(0, n // 2 + 1)) for n in kernel],
        "ceil_mode": bool(rng.integers(2)),
    }


def largest(rng: np.random.Generator) -> Call:
    """Sliding windows; or adaptive ones, which are equally far apart where the sizes divide. Some have no largest."""
    x, dims = images(rng)
    if not rng.integers(10):
        x = torch.full_like(x, -math.inf)
    if not rng.integers(4):
        return Call(getattr(F, f"adaptive_max_pool{dims}d"), (x, counts(rng, x, dims), True))
    options = {**window(rng, dims), "dilation": [int(n) for n in rng.integers(1, 3, dims)], "return_indices": True}
    return Call(lambda x: getattr(F, f"max_pool{dims}d")(x, **options), (x,))


def counts(rng: np.random.Generator, x: Tensor, dims: int) -> list[int]:
    return [one_of(rng, [1, size, int(rng.integers(1, 12))]) for size in x.shape[-dims:]]


def spread(rng: np.random.Generator) -> Call:
    """The gradient of maxima."""
    return gradient(largest(rng))


def averages(rng: np.random.Generator) -> Call:
    x, dims = images(rng)
    if not rng.integers(4):
        return Call(getattr(F, f"adaptive_avg_pool{dims}d"), (x, counts(rng, x, dims)))
    options = {**window(rng, dims), "count_include_pad": bool(rng.integers(2))}
    if not rng.integers(3):
        options["divisor_override"] = 3
    return Call(lambda x: getattr(F, f"avg_pool{dims}d")(x, **options), (x,))


def shared(rng: np.random.Generator) -> Call:
    """The gradient of an average."""
    return gradient(averages(rng))


def gradient(forward: Call) -> Call:
    """The gradient of a call's only result, or of the first of several."""

    def backward(x: Tensor) -> Tensor:
        leaf = x.detach().requires_grad_()
        found = forward.function(leaf, *forward.args[1:])
        pooled = found if isinstance(found, Tensor) else found[0]
        shares = torch.linspace(-1, 1, pooled.numel(), dtype=x.dtype).view_as(pooled)
        return torch.autograd.grad(pooled, leaf, shares)[0]

    return Call(backward, forward.args[:1])


CALLS = {
    "cpu.pooling.maxima.largest": largest,
    "cpu.pooling.maxima.spread": spread,
    "cpu.pooling.averages.averages": averages,
    "cpu.pooling.averages.shared": shared,
}
