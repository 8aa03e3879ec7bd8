"""Which random calls reach the fast products of matrices?"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, HALVES, WHOLE, laid_out, one_of
from tests.kernels.cpu.fast.held import Call

COMPLEX = ("complex64", "complex128")


def sizes(rng: np.random.Generator, number: int) -> list[int]:
    """Sizes of dimensions, all small or all large; now and then one is 0."""
    most = one_of(rng, [5, 40, 120])
    return [0 if not rng.integers(30) else int(rng.integers(1, most)) for _ in range(number)]


def size_of_product(left: Tensor, right: Tensor) -> Tensor:
    return torch.matmul(left.abs(), right.abs())


def size_of_sum(bias: Tensor, left: Tensor, right: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return torch.matmul(left.abs(), right.abs()) * abs(alpha) + bias.abs() * abs(beta)


def product(rng: np.random.Generator) -> Call:
    """Of two matrices."""
    (n, k, m), dtype = sizes(rng, 3), one_of(rng, FLOATS + COMPLEX)
    return Call(torch.mm, (laid_out(rng, [n, k], dtype), laid_out(rng, [k, m], dtype)), scale=size_of_product)


def batches(rng: np.random.Generator) -> Call:
    """Of two batches, of every dtype, mostly integers, of which some are so large that sums wrap around."""
    (n, k, m), dtype = sizes(rng, 3), one_of(rng, FLOATS + COMPLEX + HALVES + WHOLE + WHOLE)
    left, right = laid_out(rng, [2, n, k], dtype), laid_out(rng, [2, k, m], dtype)
    return Call(torch.bmm, (left * one_of(rng, [1, 2**50]) if dtype == "int64" else left, right))


def affine(rng: np.random.Generator) -> Call:
    """A product of two matrices plus a bias, with factors now and then."""
    (n, k, m), dtype = sizes(rng, 3), one_of(rng, FLOATS + COMPLEX)
    bias = laid_out(rng, one_of(rng, [[m], [m], [n, m], [n, m], [1], [n, 1]]), dtype)
    factors = {} if rng.integers(4) else {"beta": one_of(rng, [0, 2]), "alpha": one_of(rng, [0, 1, -3])}
    matrices = laid_out(rng, [n, k], dtype), laid_out(rng, [k, m], dtype)
    return Call(torch.addmm, (bias, *matrices), factors, scale=size_of_sum)


def affine_into(rng: np.random.Generator) -> Call:
    """The same sum in a tensor of the right sizes or of none, or in the bias itself."""
    call = affine(rng)
    _, left, right = call.args
    into_bias = not rng.integers(6)

    def into(bias: Tensor, left: Tensor, right: Tensor, out: Tensor, **factors: float) -> Tensor:
        return torch.addmm(bias, left, right, **factors, out=bias if into_bias else out)

    out = torch.empty([len(left), right.shape[1]] if rng.integers(8) else [0], dtype=left.dtype)
    return Call(into, (*call.args, out), call.kwargs)


CALLS = {"cpu.matmul.product": batches, "aten::mm": product, "aten::addmm": affine, "aten::addmm.out": affine_into}
