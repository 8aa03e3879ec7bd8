"""How do uniform numbers become exponential, Cauchy, geometric and log-normal ones?

Mirrors: aten/src/ATen/core/TransformationHelper.h, aten/src/ATen/core/DistributionsHelper.h,
    aten/src/ATen/native/DistributionTemplates.h (the checks)
Differs: computes whole arrays, with the C library functions that PyTorch also calls: results match bit for bit.

Each function fills in the order of a contiguous array, as the methods of `Stream` do. As in PyTorch, every number
takes 53 random bits and is computed in float64, whatever its dtype, and the dtype is not looked at if there is nothing
to fill.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike, NDArray

from glasstorch.core.random.bounds import NUMBERS, RandomNumberError, require, require_continuous, require_floating
from glasstorch.core.random.draws import Array, Shape, Stream, cast, of_each
from glasstorch.core.random.fused import fused_multiply_add

Doubles = NDArray[np.float64]


def exponential(stream: Stream, shape: Shape, dtype: DTypeLike, rate: float = 1.0) -> Array:
    """Exponentially distributed numbers: waiting times for events at this rate."""
    if not rate > 0:
        raise RandomNumberError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    result = np.empty(shape, dtype)
    if result.size:
        require_continuous(result.dtype, "Exponential")
        require_floating(result.dtype, "exponential_cpu")
        stream.fill_transformed(result, lambda uniform: -1.0 / rate * of_each(math.log1p, -uniform))
    return result


def cauchy(stream: Stream, shape: Shape, dtype: DTypeLike, median: float = 0.0, sigma: float = 1.0) -> Array:
    """Numbers from the Cauchy distribution: half of them lie within `sigma` of `median`."""
    if not sigma > 0:
        raise RandomNumberError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    result = np.empty(shape, dtype)
    require_continuous(result.dtype, "Cauchy")
    if result.size:
        require_floating(result.dtype, "cauchy_cpu")

        def across(uniform: Doubles) -> Doubles:
            return fused_multiply_add(of_each(math.tan, math.pi * (uniform - 0.5)), sigma, median)

        stream.fill_transformed(result, across)
    return result


def geometric(stream: Stream, shape: Shape, dtype: DTypeLike, probability: float) -> Array:
    """Geometrically distributed numbers: the trials until an event of this probability occurs."""
    if not 0 < probability < 1:
        raise RandomNumberError(f"geometric_ expects p to be in (0, 1), but got p={probability:g}")
    result = np.empty(shape, dtype)
    if result.size:
        require(result.dtype, "geometric_cpu", NUMBERS)
        scale = math.log1p(-probability)

        def trials(uniform: Doubles) -> Array:
            counted = np.ceil(of_each(logarithm, uniform) / scale)
            return truncated(counted, 64 if result.dtype == np.int64 else 32) if result.dtype.kind in "iu" else counted

        stream.fill_transformed(result, trials)
    return result


def log_normal(stream: Stream, shape: Shape, dtype: DTypeLike, mean: float = 1.0, std: float = 2.0) -> Array:
    """Numbers whose logarithms are normal, with this mean and standard deviation."""
    if not std > 0:
        raise RandomNumberError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    result = np.empty(shape, dtype)
    if result.size:
        require_floating(result.dtype, "log_normal_cpu")
        normal = stream.normal(shape, np.float64, mean, std, contiguous=False)
        result[...] = cast(of_each(exponential_function, normal), result.dtype)
    return result


def truncated(values: Doubles, bits: int) -> NDArray[np.int64]:
    """Integers of a number of bits. One out of range becomes the smallest, as on x86 processors."""
    limit = 2.0 ** (bits - 1)
    return np.where(values < limit, values, -limit).astype(np.int64)


def logarithm(x: float) -> float:
    """The logarithm as in C: minus infinity for 0, where Python's raises."""
    return math.log(x) if x else -math.inf


def exponential_function(x: float) -> float:
    """The exponential function as in C: infinite on overflow, where Python's raises."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
