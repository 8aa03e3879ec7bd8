"""Which random calls reach the softmax of blocks?"""

from __future__ import annotations

from collections.abc import Callable

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
    name = one_of(rng, ["softmax", "log_softmax"])
    draw = drawn if rng.integers(3) else drawn_gradient
    return draw(rng, name, shape, int(rng.integers(len(shape))))


def drawn(rng: np.random.Generator, name: str, shape: list[int], dim: int) -> Call:
    return Call(getattr(torch, name), (logits(rng, shape), dim))


def drawn_gradient(rng: np.random.Generator, name: str, shape: list[int], dim: int) -> Call:
    y = getattr(torch, name)(logits(rng, shape), dim)
    return Call(gradient, (laid_out(rng, shape, y.dtype.name), y, dim, name), scale=size_of_gradient)


def logits(rng: np.random.Generator, shape: list[int]) -> Tensor:
    """Mostly with elements, and finite ones."""
    if not rng.integers(10):
        shape[int(rng.integers(len(shape)))] = 0
    x = laid_out(rng, shape, one_of(rng, FLOATS + HALVES), one_of(rng, [0, 0, 0.001]))
    return x * one_of(rng, [0.1, 1, 10])


def small(draw: Callable[..., Call], name: str) -> Callable[[np.random.Generator], Call]:
    """Along the last dimension, mostly a short one."""

    def one(rng: np.random.Generator) -> Call:
        shape = sizes_of(rng, one_of(rng, [10, 100, 2_000, 200_000]), int(rng.integers(1, 3)))
        last = int(rng.integers(1, one_of(rng, [4, 32, 40])))
        return draw(rng, name, [*shape, last], one_of(rng, [-1, -1, len(shape), 0]))

    return one


CALLS = {
    "cpu.softmax.along": softmax,
    "aten::_softmax": small(drawn, "softmax"),
    "aten::_log_softmax": small(drawn, "log_softmax"),
    "aten::_softmax_backward_data": small(drawn_gradient, "softmax"),
    "aten::_log_softmax_backward_data": small(drawn_gradient, "log_softmax"),
}
