"""Which random calls read images and volumes in parts?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of
from tests.kernels.cpu.fast.held import Call


def drawn(rng: np.random.Generator) -> tuple[list[Tensor], list[object]]:
    """Images or volumes and a grid of few or many places, some of them outside; and how they are read."""
    dims = int(rng.integers(2, 4))
    dtype = one_of(rng, FLOATS + FLOATS + HALVES)
    batch, channels = int(rng.integers(0, 4)), int(rng.integers(1, 6))
    sizes = [int(n) for n in rng.integers(2, 9, dims)]
    places = [int(n) for n in rng.integers(2, 40, 2)] + [8] * (dims - 2)
    special = one_of(rng, [0, 0, 0.01])
    tensors = [
        laid_out(rng, [batch, channels, *sizes], dtype, special),
        laid_out(rng, [batch, *places, dims], dtype, special),
    ]
    mode = int(rng.integers(0, 3 if dims == 2 else 2))
    return tensors, [mode, int(rng.integers(3)), bool(rng.integers(2))]


def sample(rng: np.random.Generator) -> Call:
    tensors, options = drawn(rng)
    operator = getattr(torch.ops.aten, f"grid_sampler_{tensors[0].dim() - 2}d")
    return Call(lambda x, grid: operator(x, grid, *options), tuple(tensors))


def gradients(rng: np.random.Generator) -> Call:
    """The gradients of the input and of the grid."""
    tensors, options = drawn(rng)
    operator = getattr(torch.ops.aten, f"grid_sampler_{tensors[0].dim() - 2}d_backward")
    grad = laid_out(rng, [*tensors[0].shape[:2], *tensors[1].shape[1:-1]], tensors[0].dtype.name)
    return Call(lambda grad, x, grid: operator(grad, x, grid, *options, [True, True]), (grad, *tensors))


CALLS = {
    "cpu.resampling.grids.read": sample,
    "cpu.resampling.grids.sample": sample,
    "cpu.resampling.grids.gradient_of_input": gradients,
    "cpu.resampling.grids.gradient_of_grid": gradients,
}
