"""How does a convolution copy what its kernel reads as columns, a block at a time?

Mirrors: aten/src/ATen/native/im2col.h, ConvolutionMM2d.cpp, cpu/Unfold2d.cpp
Differs: see Note [Images side by side].
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import chunks, fresh
from glasstorch.kernels.cpu.fast.convolution.blocks import (
    Bordered,
    height,
    side_by_side,
    together,
    transposed,
)


def forward(x: Array, weight: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (O, C / groups, *kernel) give (N, O, *places)."""
    groups, made, count = problem.groups, problem.made, prod(problem.places)
    matrix = weight.reshape(groups, made, problem.inner)
    result = fresh((len(x), groups * made * count), x.dtype)
    product = fresh((groups, made, count * together(problem) if together(problem) > 1 else 0), x.dtype)
    for images, places, columns in blocks(x, problem):
        beside = images.stop - images.start
        into = result[images.start].reshape(groups, made, count) if beside == 1 else product[..., : count * beside]
        np.matmul(matrix, columns, into[..., places])
        if beside > 1 and places.stop == count * beside:
            transposed(into.reshape(-1, beside), result[images])
    return result.reshape(len(x), -1, *problem.places)


def backward_weight(x: Array, y: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (N, O, *places) give (O, C / groups, *kernel)."""
    groups, made, inner = problem.groups, problem.made, problem.inner
    upright = groups * made * inner > thresholds.CONVOLUTION_LAID_UP_TO
    total = fresh((groups, made, inner) if upright else (groups, inner, made), x.dtype)
    term, values = None, None
    for images, places, columns in blocks(x, problem):
        if places.start == 0:
            values = side_by_side(y[images]).reshape(groups, made, -1)
        assert values is not None
        factors = values[..., places], columns.swapaxes(1, 2)
        if not upright:  # the longer matrix first: BLAS is faster so, and the transpose is small
            factors = columns, factors[0].swapaxes(1, 2)
        if term is None:
            term = np.matmul(*factors, total)
        else:
            term = fresh(total.shape, x.dtype) if term is total else term
            total += np.matmul(*factors, term)
    gradient = total if upright else total.swapaxes(1, 2)
    return gradient.reshape(groups * made, problem.channels, *problem.window.kernel)


def blocks(x: Array, problem: Problem) -> Iterator[tuple[slice, slice, Array]]:
    """The columns (groups, inner, ...) of some images in some of their places. The next block overwrites them.

    The second slice counts the places of all these images, from 0 on.
    """
    images, groups, inner = together(problem), problem.groups, problem.inner
    copied = images > 1 or problem.elements > 1
    rows = height(problem, images) if copied else problem.places[0]
    width = prod(problem.places[1:])
    bordered = Bordered(groups * problem.channels, problem, images, x.dtype)
    buffer = fresh((groups * inner * rows * width * images if copied else 0,), x.dtype)
    for some in chunks(len(x), images):
        read = windows(bordered.filled(x[some]), problem)
        for part in chunks(problem.places[0], rows):
            window = read[(slice(None),) * (1 + len(problem.places)) + (part,)]
            columns = np.ascontiguousarray(window) if not copied else buffer[: window.size].reshape(window.shape)
            if copied:
                np.copyto(columns, window)
            beside = width * (some.stop - some.start)
            places = slice(part.start * beside, part.stop * beside)
            yield some, places, columns.reshape(groups, inner, places.stop - places.start)


def windows(padded: Array, problem: Problem) -> Array:
    """What a sliding kernel reads: (C, *padded, n) gives (C, *kernel, *places, n), a view."""
    c, *steps, n = padded.strides
    between = [step * d for step, d in zip(steps, problem.window.dilation, strict=True)]
    along = [step * s for step, s in zip(steps, problem.window.stride, strict=True)]
    shape = (len(padded), *problem.window.kernel, *problem.places, padded.shape[-1])
    return np.lib.stride_tricks.as_strided(padded, shape, (c, *between, *along, n), writeable=False)
