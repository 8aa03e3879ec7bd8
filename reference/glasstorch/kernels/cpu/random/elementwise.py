"""How is a number drawn with the parameters that stand at its place in a tensor?

Mirrors: _s_poisson_cpu, _s_binomial_cpu, _s_gamma_cpu and _s_dirichlet_cpu in aten/src/ATen/native/Distributions.cpp
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import check_implemented, float64
from glasstorch.core.random import rejection
from glasstorch.core.random.draws import cast
from glasstorch.core.random.generator import Generator
from glasstorch.core.random.single_draws import drawn_one_by_one
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.random.distributions import CPU, stream_of
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS, EVERY, FLOATING
from glasstorch.operators.shapes import random as shapes

NUMBERS_EACH = 4  # uniform ones that a draw takes, more or less
NOT_FULL = EVERY - DIRECT_FLOATS
NOT_FLOATING = EVERY - FLOATING


def each(generator: Generator | None, draw: Callable[..., float], *parameters: Array) -> Array:
    """`draw(*parameters, draws)` for each place, in row-major order, as float64."""
    broadcast = np.broadcast_arrays(*parameters)
    values = [array.astype(np.float64).reshape(-1).tolist() for array in broadcast]
    with drawn_one_by_one(stream_of(generator), NUMBERS_EACH * len(values[0])) as draws:
        drawn = [draw(*at, draws) for at in zip(*values, strict=True)]
    return np.array(drawn, np.float64).reshape(broadcast[0].shape)


def drawer(draw: Callable[..., float], dtype: np.dtype[Any]) -> Callable[..., float]:
    """`draw` with the dtype of its parameters given."""

    def with_dtype(*arguments: Any) -> float:
        *parameters, draws = arguments
        return draw(*parameters, dtype, draws)

    return with_dtype


def at_least_tiny(values: Array, dtype: np.dtype[Any]) -> Array:
    """The values in a dtype, where nothing is smaller than the smallest normal number; nan stays."""
    rounded = cast(values, dtype)
    tiny = np.finfo(dtype).tiny
    return np.where(rounded < tiny, tiny, rounded)


@CPU.impl("poisson")
def poisson(keys: int, self: Tensor, generator: Generator | None) -> Tensor:
    """A Poisson number for each rate."""
    check_implemented("poisson_cpu", self.dtype, NOT_FLOATING)
    drawn = each(generator, rejection.poisson, self.array())
    return wrap(cast(drawn, self.dtype.numpy), self.dtype)


@CPU.impl("binomial")
def binomial(keys: int, count: Tensor, prob: Tensor, generator: Generator | None) -> Tensor:
    """How many of `count` trials succeed, at each place."""
    shapes.binomial(count, prob, generator)
    check_implemented("binomial_cpu", count.dtype, NOT_FULL)
    dtype = count.dtype.numpy
    drawn = each(generator, drawer(rejection.binomial, dtype), count.array(), prob.array())
    return wrap(cast(drawn, dtype), count.dtype)


@CPU.impl("_standard_gamma")
def standard_gamma(keys: int, self: Tensor, generator: Generator | None) -> Tensor:
    """A gamma number of rate 1 for each concentration, never 0."""
    check_implemented("gamma_cpu", self.dtype, NOT_FULL)
    dtype = self.dtype.numpy
    drawn = each(generator, drawer(rejection.gamma, dtype), self.array())
    return wrap(at_least_tiny(drawn, dtype), self.dtype)


@CPU.impl("_sample_dirichlet")
def sample_dirichlet(keys: int, self: Tensor, generator: Generator | None) -> Tensor:
    """Gamma numbers divided by their sum along the last dimension: never 0 or 1."""
    check_implemented("dirichlet", self.dtype, NOT_FULL)
    double = np.dtype(np.float64)
    gamma = at_least_tiny(each(generator, drawer(rejection.gamma, double), self.array()), double)
    total = wrap(gamma, float64).sum(-1, keepdim=True).array()  # PyTorch's sum, in its order
    dtype = self.dtype.numpy
    largest = np.nextafter(dtype.type(1), dtype.type(0))
    return wrap(np.minimum(at_least_tiny(gamma / total, dtype), largest), self.dtype)
