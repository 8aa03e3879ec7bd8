"""Which random calls reach layers and batches that are normalized in blocks?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, laid_out, one_of
from tests.kernels.cpu.fast.held import Call

aten = torch.ops.aten
EPS = 1e-5


def drawn(rng: np.random.Generator, shape: list[int], dtype: str) -> Tensor:
    """Numbers near 0, or far from it."""
    return laid_out(rng, shape, dtype) * one_of(rng, [0.1, 1, 10]) + one_of(rng, [0, 0, 1, 100])


def layer(rng: np.random.Generator) -> tuple[list[int], list[int], str, str]:
    """The sizes of an input, those that are normalized, and the dtypes of input and parameters."""
    rows: list[int] = one_of(rng, [[], [1], [7], [3, 40], [700], [3, 1000]])
    sizes = one_of(rng, [[1], [5], [64], [3, 20], [300], [1000]])
    dtype = one_of(rng, FLOATS + FLOATS + HALVES)
    return [*rows, *sizes], sizes, dtype, "float32" if dtype in HALVES and rng.integers(2) else dtype


def layer_norm(rng: np.random.Generator) -> Call:
    shape, sizes, dtype, other = layer(rng)
    weight, bias = (laid_out(rng, sizes, other) if rng.integers(3) else None for _ in range(2))

    def size(x: Tensor, sizes: list[int], weight: Any, bias: Any) -> Tensor:
        """That of the terms that are added: a number and those of the mean, in deviations, and the bias."""
        dims = list(range(-len(sizes), 0))
        terms = (x.abs() + x.abs().mean(dims, keepdim=True)) * (x.var(dims, correction=0, keepdim=True) + EPS).rsqrt()
        return (terms if weight is None else terms * weight.abs()) + (0 if bias is None else bias.abs())

    def function(*arguments: Any) -> Any:
        return aten.native_layer_norm(*arguments, EPS)[0]

    return Call(function, (drawn(rng, shape, dtype), sizes, weight, bias), scale=size)


def layer_norm_backward(rng: np.random.Generator) -> Call:
    """One of the three gradients, by the statistics that the forward pass gave."""
    shape, sizes, dtype, other = layer(rng)
    grad, x = laid_out(rng, shape, dtype), drawn(rng, shape, dtype)
    weight = laid_out(rng, sizes, other) if rng.integers(3) else None
    _, mean, rstd = aten.native_layer_norm(x, sizes, weight, None, EPS)
    mask = [bool(rng.integers(4)) for _ in range(3)]
    which = int(rng.integers(3))
    mask[which] = True

    def function(*arguments: Any) -> Any:
        return aten.native_layer_norm_backward(*arguments, None, mask)[which]

    def size(grad: Tensor, x: Tensor, sizes: list[int], mean: Tensor, rstd: Tensor, weight: Any) -> Tensor:
        dims, outer = list(range(-len(sizes), 0)), list(range(x.dim() - len(sizes)))
        unit, pulled = (x.abs() + mean.abs()) * rstd.abs(), grad.abs() if weight is None else (grad * weight).abs()
        if which == 0:
            along = (pulled * unit).mean(dims, keepdim=True)
            return rstd.abs() * (pulled + pulled.mean(dims, keepdim=True) + unit * along)
        terms = grad.abs() * unit if which == 1 else grad.abs()
        return terms.sum(outer) if outer else terms

    return Call(function, (grad, x, sizes, mean, rstd, weight), scale=size)


def batch(rng: np.random.Generator) -> tuple[list[int], str, str]:
    """The sizes of an input, and the dtypes of input and parameters."""
    places: list[int] = one_of(rng, [[], [3], [16], [40], [5, 7], [28, 28], [4, 5, 6]])
    dtype = one_of(rng, FLOATS + FLOATS + HALVES)
    shape = [int(rng.integers(2, 40)), int(rng.integers(1, 20)), *places]
    return shape, dtype, "float32" if dtype in HALVES and rng.integers(2) else dtype


def batch_norm(rng: np.random.Generator) -> Call:
    """In training, with running statistics or without them, or by running statistics."""
    shape, dtype, other = batch(rng)
    training, moved = bool(rng.integers(2)), int(rng.integers(2))
    weight, bias = (laid_out(rng, shape[1:2], other) if rng.integers(3) else None for _ in range(2))
    running = [None, None]
    if moved or not training:
        running = [laid_out(rng, shape[1:2], other).clone(), laid_out(rng, shape[1:2], other).square() + 1]

    def function(x: Tensor, *rest: Any) -> Any:
        return aten.native_batch_norm(x, *rest, training, 0.1, EPS)[0]

    def size(x: Tensor, weight: Any, bias: Any, mean: Any, var: Any) -> Tensor:
        each = [-1, *[1] * (x.dim() - 2)]
        over = [dim for dim in range(x.dim()) if dim != 1]
        if training:
            mean, var = x.abs().mean(over), x.var(over, correction=0)
        terms = (x.abs() + mean.abs().view(each)) * (var + EPS).rsqrt().view(each)
        scaled = terms if weight is None else terms * weight.abs().view(each)
        return scaled if bias is None else scaled + bias.abs().view(each)

    return Call(function, (drawn(rng, shape, dtype), weight, bias, *running), scale=size)


def batch_norm_backward(rng: np.random.Generator) -> Call:
    """One of the three gradients, in training or by running statistics."""
    shape, dtype, other = batch(rng)
    grad, x, training = laid_out(rng, shape, dtype), drawn(rng, shape, dtype), bool(rng.integers(2))
    weight = laid_out(rng, shape[1:2], other) if rng.integers(3) else None
    _, mean, rstd = aten.native_batch_norm(x.to(getattr(torch, other)), None, None, None, None, True, 0.1, EPS)
    statistics = (None, None, mean, rstd) if training else (mean, rstd.square(), None, None)
    mask = [bool(rng.integers(4)) for _ in range(3)]
    which = int(rng.integers(3))
    mask[which] = True

    def function(*arguments: Any) -> Any:
        return aten.native_batch_norm_backward(*arguments, training, EPS, mask)[which]

    def size(grad: Tensor, x: Tensor, weight: Any, mean: Any, var: Any, kept: Any, rstd: Any) -> Tensor:
        each = [-1, *[1] * (x.dim() - 2)]
        over = [dim for dim in range(x.dim()) if dim != 1]
        if not training:
            kept, rstd = mean, (var + EPS).rsqrt()
        rstd = rstd.abs().view(each)
        unit, slopes = (x.abs() + kept.abs().view(each)) * rstd, grad.abs()
        if which:
            return (slopes * unit if which == 1 else slopes).sum(over)
        pulled = slopes if weight is None else slopes * weight.abs().view(each)
        along = (pulled * unit).mean(over, keepdim=True)
        return rstd * (pulled + pulled.mean(over, keepdim=True) + unit * along)

    return Call(function, (grad, x, weight, *statistics), scale=size)


def gradient(rng: np.random.Generator) -> Call:
    """Of a layer or of a batch."""
    return one_of(rng, [layer_norm_backward, batch_norm_backward])(rng)


CALLS = {
    "cpu.normalization.normalized": layer_norm,
    "cpu.normalization.channel_moments": batch_norm,
    "cpu.normalization.by_channels": batch_norm,
    "cpu.normalization.gradients": gradient,
}
