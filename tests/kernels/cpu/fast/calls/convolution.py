"""Which random calls reach the ways to compute a convolution?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, laid_out, one_of
from tests.kernels.cpu.fast.held import Call

How = tuple[Any, ...]  # stride, padding, dilation, transposed, output_padding, groups


def numbers(rng: np.random.Generator, dims: int, low: int, high: int) -> list[int]:
    return [int(n) for n in rng.integers(low, high, dims)]


def drawn(rng: np.random.Generator) -> tuple[list[Tensor], How]:
    """The input, the weight and the result's gradient; small images side by side, large ones row by row."""
    dtype, dims = one_of(rng, (*FLOATS, "complex64", "float16")), int(rng.integers(1, 4))
    large = dims == 2 and not rng.integers(8)
    groups, batch = int(rng.integers(1, 4)), int(rng.integers(1, 3 if large else 7))
    channels, made = (int(n) for n in rng.integers(16, 24, 2)) if large else numbers(rng, 2, 1, 5)
    kernel, padding = numbers(rng, dims, 1, 9 if dims == 2 and not rng.integers(4) else 4), numbers(rng, dims, 0, 3)
    stride = numbers(rng, dims, 1, 3) if rng.integers(2) else [1] * dims
    dilation = numbers(rng, dims, 1, 3) if rng.integers(3) == 0 else [1] * dims
    sizes = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    sizes = [size + int(rng.integers(40 if large else 0, 50 if large else 15)) for size in sizes]
    x = laid_out(rng, [batch, groups * channels, *sizes], dtype)
    weight = laid_out(rng, [groups * made, channels, *kernel], dtype)
    how = (stride, padding, dilation, False, [0] * dims, groups)
    result = torch.convolution(x, weight, None, *how)
    return [x, weight, laid_out(rng, list(result.shape), dtype)], how


def gradient(index: int, grad: Tensor, x: Tensor, weight: Tensor, *how: Any) -> Tensor:
    """The gradient of the input (0), or of the weight (1)."""
    mask = [i == index for i in range(3)]
    found: Tensor = torch.ops.aten.convolution_backward(grad, x, weight, None, *how, mask)[index]
    return found


def size_of_sums(x: Tensor, weight: Tensor, bias: None, *how: Any) -> Tensor:
    """The sums of the absolute values of what is added."""
    return torch.convolution(x.abs(), weight.abs(), None, *how)


def size_of_gradients(index: int, grad: Tensor, x: Tensor, weight: Tensor, *how: Any) -> Tensor:
    return gradient(index, grad.abs(), x.abs(), weight.abs(), *how)


def forward(rng: np.random.Generator) -> Call:
    (x, weight, _), how = drawn(rng)
    return Call(torch.convolution, (x, weight, None, *how), scale=size_of_sums)


def backward_input(rng: np.random.Generator) -> Call:
    (x, weight, grad), how = drawn(rng)
    return Call(gradient, (0, grad, x, weight, *how), scale=size_of_gradients)


def backward_weight(rng: np.random.Generator) -> Call:
    (x, weight, grad), how = drawn(rng)
    return Call(gradient, (1, grad, x, weight, *how), scale=size_of_gradients)


CALLS = {
    "cpu.convolution.products.forward": forward,
    "cpu.convolution.products.backward_input": backward_input,
    "cpu.convolution.products.backward_weight": backward_weight,
}
