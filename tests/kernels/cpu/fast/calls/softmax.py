"""Which random calls reach the softmax of blocks?"""

from __future__ import annotations

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def size_of_gradient(grad: Tensor, y: Tensor, dim: int, name: str) -> Tensor:
    """The terms of a gradient, all added."""
    if name == "softmax":
        return (grad.abs() + (grad * y).abs().sum(dim, keepdim=True)) * y.abs()
    return grad.abs() + y.exp() * grad.abs().sum(dim, keepdim=True)


def gradient(grad: Tensor, y: Tensor, dim: int, name: str) -> Tensor:
    return getattr(torch.ops.aten, f"_{name}_backward_data")(grad, y, dim, grad.dtype)


def softmax(rng: np.random.Generator) -> Call:
    """Along any dimension, of rows whose maxima are near each other or far apart; or the gradient."""
    shape = sizes_of(rng, one_of(rng, [0, 100, 5_000, 200_000]), int(rng.integers(1, 4)))
    if not rng.integers(10):
        shape[int(rng.integers(len(shape)))] = 0
    dtype, dim, name = (
        one_of(rng, FLOATS + HALVES),
        int(rng.integers(len(shape))),
        one_of(rng, ["softmax", "log_softmax"]),
    )
    x = laid_out(rng, shape, dtype, one_of(rng, [0, 0, 0.001])) * one_of(rng, [0.1, 1, 10])
    if rng.integers(3):
        return Call(getattr(torch, name), (x, dim))
    return Call(
        gradient, (laid_out(rng, shape, dtype), getattr(torch, name)(x, dim), dim, name), scale=size_of_gradient
    )


CALLS = {"cpu.softmax.along": softmax}
