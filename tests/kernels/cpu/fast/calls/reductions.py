"""Which random calls reach the fast reductions?"""

from __future__ import annotations

import math

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of, tensor
from tests.kernels.cpu.fast.held import Call

FLOATING = ("float32", "float64", "float16", "bfloat16")
REAL = (*FLOATING, "int64", "int32", "uint8", "bool")


def shape_of(rng: np.random.Generator, most: int = 3) -> list[int]:
    return sizes_of(rng, one_of(rng, [40, 3_000, 30_000, 200_000]), int(rng.integers(1, most + 1)))


def dims_of(rng: np.random.Generator, shape: list[int]) -> list[int]:
    """Some of the dimensions, at least one."""
    return sorted(rng.choice(len(shape), int(rng.integers(1, len(shape) + 1)), replace=False).tolist())


def terms(rng: np.random.Generator, shape: list[int], dtype: str, special: float = 0.0) -> Tensor:
    """Numbers of both signs, or floats of one sign, whose partial sums grow."""
    x = laid_out(rng, shape, dtype, special)
    return x.abs() if dtype in FLOATING and rng.integers(2) else x


def sum_of_sizes(x: Tensor, dims: list[int] | None = None) -> Tensor:
    """The sum of the absolute values: what the roundings of a sum are measured by."""
    return torch.nansum(x.double().abs(), dims or list(range(x.dim())))


def mean_of_sizes(x: Tensor, dims: list[int] | None = None) -> Tensor:
    found = sum_of_sizes(x, dims)
    return found * (found.numel() / max(x.numel(), 1))


def whole(rng: np.random.Generator) -> Call:
    x = terms(rng, shape_of(rng), one_of(rng, REAL), one_of(rng, [0, 0, 0.001]))
    return Call(torch.sum, (x,), scale=sum_of_sizes)


def whole_mean(rng: np.random.Generator) -> Call:
    x = terms(rng, shape_of(rng), one_of(rng, FLOATING), one_of(rng, [0, 0, 0.001]))
    return Call(torch.mean, (x,), scale=mean_of_sizes)


def small(rng: np.random.Generator) -> Call:
    x = terms(rng, [int(rng.integers(1, 300)), int(rng.integers(1, 60))], one_of(rng, REAL))
    return Call(torch.sum, (x, [int(rng.integers(2))]), scale=sum_of_sizes)


def along(rng: np.random.Generator) -> Call:
    shape = shape_of(rng)
    function = one_of(rng, [torch.sum, torch.mean])
    x = terms(rng, shape, one_of(rng, FLOATING if function is torch.mean else REAL), one_of(rng, [0, 0, 0.001]))
    return Call(function, (x, dims_of(rng, shape)), scale=sum_of_sizes if function is torch.sum else mean_of_sizes)


def without_nan(rng: np.random.Generator) -> Call:
    shape = shape_of(rng)
    return Call(torch.nansum, (terms(rng, shape, one_of(rng, FLOATING), 0.01), dims_of(rng, shape)), scale=sum_of_sizes)


def extremum(rng: np.random.Generator) -> Call:
    shape = shape_of(rng)
    function = one_of(rng, [torch.amax, torch.amin])
    x = laid_out(rng, shape, one_of(rng, ["float16", "bfloat16", *REAL]), one_of(rng, [0, 0.001, 0.1]))
    return Call(function, (x, dims_of(rng, shape)))


def position(rng: np.random.Generator) -> Call:
    shape = shape_of(rng)
    x = laid_out(rng, shape, one_of(rng, REAL[:-1]), one_of(rng, [0, 0.001, 0.1]))
    return Call(one_of(rng, [torch.argmax, torch.argmin]), (x, int(rng.integers(len(shape)))))


def extremum_and_position(rng: np.random.Generator) -> Call:
    shape = shape_of(rng)
    x = laid_out(rng, shape, one_of(rng, REAL[:-1]), one_of(rng, [0, 0.001, 0.1]))
    return Call(one_of(rng, [torch.max, torch.min]), (x, int(rng.integers(len(shape)))))


def size_of_product(x: Tensor, *dim: int) -> Tensor:
    """The product, times the root of how many times 10,000 factors are rounded on the way."""
    factors = x.shape[dim[0]] if dim else x.numel()
    return torch.prod(x, *dim) * math.sqrt(max(1, factors / 10_000))


def product(rng: np.random.Generator) -> Call:
    """Numbers around 1, whose product neither overflows nor vanishes."""
    shape = shape_of(rng, 2)
    dtype = one_of(rng, ["float32", "float64", "int64"])
    x = 2 ** (tensor(rng, shape, "float64") * 0.05)
    x = (x.round() if dtype == "int64" else x).to(getattr(torch, dtype))
    return Call(torch.prod, (x, len(shape) - 1) if rng.integers(2) else (x,), scale=size_of_product)


def variance(rng: np.random.Generator) -> Call:
    shape = shape_of(rng)
    x = laid_out(rng, shape, one_of(rng, [*FLOATING, "complex64"]))
    return Call(one_of(rng, [torch.var, torch.std, torch.var_mean]), (x, dims_of(rng, shape)))


def bits(rng: np.random.Generator) -> Call:
    shape = shape_of(rng)
    x = laid_out(rng, shape, one_of(rng, ["float16", "float32", "float64", "int64", "uint8"]), one_of(rng, [0, 0.001]))
    return Call(torch.hash_tensor, (x, dims_of(rng, shape)))


CALLS = {
    "aten::sum": whole,
    "aten::sum.dim_IntList": small,
    "aten::mean": whole_mean,
    "cpu.reductions.sums.added": along,
    "cpu.reductions.sums.added_without_nan": without_nan,
    "cpu.reductions.sums.extrema": extremum,
    "cpu.reductions.sums.positions": position,
    "cpu.reductions.sums.at_positions": extremum_and_position,
    "cpu.reductions.moments.multiplied": product,
    "cpu.reductions.moments.variance": variance,
    "cpu.reductions.moments.exclusive_or": bits,
}
