"""How does a convolution add up shifted products, without a copy of what its kernel reads?

One product of matrices gives, for each element of the kernel, its share of the result, which is added where it belongs.
The gradient of the input is computed so. With steps of 1 a convolution is the gradient of another one's input: of the
one whose kernel is turned round. Then there is the choice between columns, which copy as many numbers as are read, and
shifted sums, which add as many as are made.

Mirrors: aten/src/ATen/native/Col2Im.cpp, NaiveConvolutionTranspose2d.cpp
Differs: see Note [Images side by side].
"""

from __future__ import annotations

from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.fast.blocks import chunks, fresh
from glasstorch.kernels.cpu.fast.convolution.blocks import (
    height,
    inside,
    read_at,
    side_by_side,
    together,
)
from glasstorch.operators.shapes.convolution import Window


def backward_input(y: Array, weight: Array, problem: Problem) -> Array:
    """(N, O, *places) and (O, C / groups, *kernel) give (N, C, *sizes)."""
    groups, places = problem.groups, problem.places
    matrix = weight.reshape(groups, problem.made, problem.inner).swapaxes(1, 2)
    images = together(problem)
    result = fresh((len(y), groups * problem.channels, *problem.sizes), y.dtype)
    total = fresh((groups * problem.channels, *problem.padded, images), y.dtype)
    step, width, within = height(problem, images), prod(places[1:]), inside(problem)
    products = fresh((groups * problem.inner * step * width * images,), y.dtype)
    for some in chunks(len(y), images):
        count = some.stop - some.start
        values = side_by_side(y[some]).reshape(groups, problem.made, prod(places) * count)
        sums = total[..., :count]
        sums.fill(0)
        for rows in chunks(places[0], step):
            part = values[..., rows.start * width * count : rows.stop * width * count]
            product = products[: groups * problem.inner * part.shape[-1]].reshape(groups, problem.inner, -1)
            np.matmul(matrix, part, product)
            shares = product.reshape(len(sums), *problem.window.kernel, -1, *places[1:], count)
            for element in np.ndindex(problem.window.kernel):
                sums[(slice(None), *read_at(problem, element, rows))] += shares[(slice(None), *element)]
        result[some] = np.moveaxis(sums[within], -1, 0)
    return result


def can_turn(problem: Problem) -> bool:
    """Whether the same can be computed with the kernel turned round."""
    spans = zip(problem.window.padding, problem.window.extent, strict=True)
    return max(problem.window.stride) == 1 and all(zeros < extent for zeros, extent in spans)


def turned(problem: Problem) -> Problem:
    """The convolution whose input has the gradient that is the result of this one, and the other way round."""
    window = problem.window
    padding = tuple(extent - 1 - zeros for extent, zeros in zip(window.extent, window.padding, strict=True))
    return problem._replace(
        channels=problem.made,
        made=problem.channels,
        sizes=problem.places,
        places=problem.sizes,
        window=Window(window.kernel, window.stride, padding, window.dilation),
    )


def turned_weight(weight: Array, problem: Problem) -> Array:
    """(groups * O, C, *kernel) as (groups * C, O, *kernel), turned round in all its dimensions."""
    kernel = problem.window.kernel
    split = weight.reshape(problem.groups, problem.made, problem.channels, *kernel)
    flipped = np.flip(split.swapaxes(1, 2), tuple(range(3, split.ndim)))
    return np.ascontiguousarray(flipped).reshape(-1, problem.made, *kernel)
