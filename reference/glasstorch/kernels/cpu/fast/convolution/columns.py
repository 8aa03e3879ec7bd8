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
from glasstorch.kernels.cpu.fast.convolution.blocks import Bordered, chunks, fresh, height, together


def forward(x: Array, weight: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (O, C / groups, *kernel) give (N, O, *places)."""
    groups, made, places = problem.groups, problem.made, problem.places
    matrix, width = weight.reshape(groups, made, problem.inner), prod(places[1:])
    result = fresh((len(x), groups * made, *places), x.dtype)
    for images, rows, columns in blocks(x, problem):
        count = images.stop - images.start
        if count == 1:
            image = result[images.start].reshape(groups, made, places[0] * width)
            np.matmul(matrix, columns, image[..., rows.start * width : rows.stop * width])
        else:
            product = np.matmul(matrix, columns).reshape(groups * made, -1, *places[1:], count)
            result[images, :, rows] = np.moveaxis(product, -1, 0)
    return result


def backward_weight(x: Array, y: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (N, O, *places) give (O, C / groups, *kernel)."""
    shape = (problem.groups, problem.made, problem.inner)
    total, term = fresh(shape, x.dtype), None
    for images, rows, columns in blocks(x, problem):
        values = side_by_side(y[images, :, rows]).reshape(*shape[:2], columns.shape[-1])
        if term is None:
            np.matmul(values, columns.swapaxes(1, 2), total)
            term = total
        else:
            term = fresh(shape, x.dtype) if term is total else term
            total += np.matmul(values, columns.swapaxes(1, 2), term)
    if term is None:
        total.fill(0)
    return total.reshape(-1, problem.channels, *problem.window.kernel)


def side_by_side(images: Array) -> Array:
    """(n, C, ...) as (C, ..., n)."""
    return images[0] if len(images) == 1 else np.moveaxis(images, 0, -1)


def blocks(x: Array, problem: Problem) -> Iterator[tuple[slice, slice, Array]]:
    """The columns (groups, inner, places) of some images in some rows of the result. The next block overwrites them."""
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
            yield some, part, columns.reshape(groups, inner, window.size // (groups * inner))


def windows(padded: Array, problem: Problem) -> Array:
    """What a sliding kernel reads: (C, *padded, n) gives (C, *kernel, *places, n), a view."""
    c, *steps, n = padded.strides
    between = [step * d for step, d in zip(steps, problem.window.dilation, strict=True)]
    along = [step * s for step, s in zip(steps, problem.window.stride, strict=True)]
    shape = (len(padded), *problem.window.kernel, *problem.places, padded.shape[-1])
    return np.lib.stride_tricks.as_strided(padded, shape, (c, *between, *along, n), writeable=False)
