"""How does a convolution compute outputs that read one channel each?

A product of matrices would have a single row. Here each element of the kernel multiplies what it reads of all images
and channels in a block, and the products are added.

Mirrors: aten/src/ATen/native/cpu/DepthwiseConvKernel.cpp
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.convolution.blocks import chunks, fresh, read_at

ALL = slice(None)


def forward(x: Array, weight: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (C * made, 1, *kernel) give (N, C * made, *places)."""
    result = fresh((len(x), problem.groups, problem.made, *problem.places), x.dtype)
    for some, factors, padded in blocks(x, weight, problem):
        sums = result[some]
        product = np.empty_like(sums)
        for index, element in enumerate(np.ndindex(problem.window.kernel)):
            read = padded[(ALL, ALL, None, *read_at(problem, element, slice(0, problem.places[0])))]
            np.multiply(read, factors[index], product if index else sums)
            if index:
                sums += product
    return result.reshape(len(x), -1, *problem.places)


def backward_input(y: Array, weight: Array, problem: Problem) -> Array:
    """(N, C * made, *places) and (C * made, 1, *kernel) give (N, C, *sizes)."""
    result = fresh((len(y), problem.groups, *problem.sizes), y.dtype)
    values = y.reshape(len(y), problem.groups, problem.made, *problem.places)
    within = (ALL, *(slice(p, p + n) for p, n in zip(problem.window.padding, problem.sizes, strict=True)))
    for some, factors, sums in blocks(None, weight, problem):
        for index, element in enumerate(np.ndindex(problem.window.kernel)):
            place = (ALL, ALL, *read_at(problem, element, slice(0, problem.places[0])))
            for output in range(problem.made):
                sums[place] += values[some][:, :, output] * factors[index][:, :, output]
        result[some] = sums[(ALL, *within)]
    return result


def backward_weight(x: Array, y: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (N, C * made, *places) give (C * made, 1, *kernel)."""
    result = np.zeros((problem.elements, problem.groups, problem.made), x.dtype)
    values = y.reshape(len(y), problem.groups, problem.made, *problem.places)
    for some, _, padded in blocks(x, None, problem):
        given = values[some]
        product = np.empty_like(given)
        for index, element in enumerate(np.ndindex(problem.window.kernel)):
            read = padded[(ALL, ALL, None, *read_at(problem, element, slice(0, problem.places[0])))]
            np.multiply(read, given, product)
            result[index][some[1]] += product.sum((0, *range(3, product.ndim)))
    return np.moveaxis(result, 0, -1).reshape(-1, 1, *problem.window.kernel)


def blocks(
    x: Array | None, weight: Array | None, problem: Problem
) -> Iterator[tuple[tuple[slice, slice], Array, Array]]:
    """Some images and channels, the kernel's elements for those, and what is read, with zeros around; zeros for no x.

    The elements are (elements, 1, channels, made, 1, ...), what is read is (n, channels, *padded).
    """
    given = weight if weight is not None else x
    assert given is not None
    plane = problem.made * prod(problem.places)
    channels = max(1, min(problem.groups, thresholds.CONVOLUTION_PLANES // max(1, plane)))
    images = max(1, thresholds.CONVOLUTION_PLANES // max(1, plane * channels)) if channels == problem.groups else 1
    factors = np.empty((0, 1, problem.groups, 1), given.dtype)
    if weight is not None:
        factors = np.moveaxis(weight.reshape(problem.groups, problem.made, problem.elements), -1, 0)
        factors = factors.reshape(problem.elements, 1, problem.groups, problem.made, *(1,) * len(problem.places))
    within = tuple(slice(p, p + n) for p, n in zip(problem.window.padding, problem.sizes, strict=True))
    buffer = np.zeros((min(images, problem.batch), channels, *problem.padded), given.dtype)
    for some in chunks(problem.batch, images):
        for part in chunks(problem.groups, channels):
            padded = buffer[: some.stop - some.start, : part.stop - part.start]
            if x is None:
                padded.fill(0)
            else:
                padded[(ALL, ALL, *within)] = x[some, part]
            yield (some, part), factors[:, :, part], padded
