"""How does a convolution copy what its kernel reads as rows, with the channels last?

With (*sizes, channels) as the order of memory, what a row of the kernel reads is one run, however small the image is
and in whatever steps the kernel goes. The images and the weight are brought into that order first, and the result back
from it. These are few numbers beside those that are copied several times, if the kernel reads them several times.

Mirrors: nhwc, the order of channels_last, for which aten/src/ATen/native/mkldnn/Conv.cpp has oneDNN's kernels
Differs: whatever order the tensors have.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import chunks, fresh
from glasstorch.kernels.cpu.fast.convolution.blocks import inside, read_at
from glasstorch.kernels.cpu.fast.convolution.shifted import can_turn, turned


def forward(x: Array, weight: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (O, C / groups, *kernel) give (N, O, *places)."""
    return multiplied(x, laid(weight, problem).reshape(problem.groups, problem.made, -1).swapaxes(1, 2), problem)


def backward_input(y: Array, weight: Array, problem: Problem) -> Array:
    """(N, O, *places) and (O, C / groups, *kernel) give (N, C, *sizes)."""
    elements = laid(weight, problem)
    if not can_turn(problem):
        return added(y, elements.reshape(problem.groups, problem.made, -1), problem)
    factors = np.ascontiguousarray(elements[:, :, ::-1].swapaxes(1, 2))
    return multiplied(y, factors.reshape(problem.groups, -1, problem.channels), turned(problem))


def laid(weight: Array, problem: Problem) -> Array:
    """(groups * O, C, *kernel) as (groups, O, elements, C)."""
    split = weight.reshape(problem.groups, problem.made, problem.channels, problem.elements)
    return np.ascontiguousarray(split.swapaxes(2, 3))


def multiplied(x: Array, factors: Array, problem: Problem) -> Array:
    """The rows of all images times factors (groups, elements * C, O), with the channels in front again."""
    groups, made, count = problem.groups, problem.made, prod(problem.places)
    some, _ = at_once(problem)
    result = fresh((len(x), groups, made, count), x.dtype)
    product = fresh((groups, some if some > 1 else 0, count, made), x.dtype)
    for images, places, rows in blocks(x, problem):
        if some == 1:
            np.matmul(factors.swapaxes(1, 2), rows.swapaxes(1, 2), result[images.start, :, :, places])
        else:
            into = product[:, : images.stop - images.start]
            np.matmul(rows, factors, into.reshape(groups, -1, made))
            np.copyto(result[images], into.transpose(1, 0, 3, 2))
    return result.reshape(len(x), groups * made, *problem.places)


def backward_weight(x: Array, y: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (N, O, *places) give (O, C / groups, *kernel)."""
    groups, made, inner = problem.groups, problem.made, problem.inner
    moved = y.reshape(len(y), groups, made, -1).transpose(1, 2, 0, 3)
    upright = groups * made * inner > thresholds.CONVOLUTION_LAID_UP_TO
    total = fresh((groups, made, inner) if upright else (groups, inner, made), x.dtype)
    term = None
    for images, places, rows in blocks(x, problem):
        values = moved[:, :, images, places].reshape(groups, made, -1)  # a view of a single image
        left: Array = values if upright else rows.swapaxes(1, 2)  # the longer matrix first, as in `columns`
        right: Array = rows if upright else values.swapaxes(1, 2)
        if term is None:
            term = np.matmul(left, right, total)
        else:
            term = fresh(total.shape, x.dtype) if term is total else term
            total += np.matmul(left, right, term)
    gradient = total if upright else total.swapaxes(1, 2)
    split = gradient.reshape(groups, made, problem.elements, problem.channels).swapaxes(2, 3)
    return split.reshape(groups * made, problem.channels, *problem.window.kernel)


def at_once(problem: Problem) -> tuple[int, int]:
    """How many images, and how many rows of their places, make a block; it is a single image if not all its rows do."""
    height, width = problem.places[0], prod(problem.places[1:])
    fit = max(thresholds.CONVOLUTION_COLUMNS, thresholds.CONVOLUTION_BLOCK // (problem.groups * problem.inner))
    images = min(problem.batch, fit // max(1, height * width))
    return (images, height) if images > 1 else (1, max(1, min(height, fit // max(1, width))))


def blocks(x: Array, problem: Problem) -> Iterator[tuple[slice, slice, Array]]:
    """The rows (groups, ..., inner) of some images in some of their places. The next block overwrites them.

    The second slice counts the places of each image, from 0 on.
    """
    groups, channels, width = problem.groups, problem.channels, prod(problem.places[1:])
    some, height = at_once(problem)
    last = fresh((some, *problem.padded, groups * channels), x.dtype)
    if any(problem.window.padding):
        last.fill(0)
    read = windows(last, problem)
    middle, moved = last[(slice(None), *inside(problem)[1:])], np.moveaxis(x, 1, -1)
    buffer = fresh((groups * some * height * width * problem.inner,), x.dtype)
    for images in chunks(len(x), some):
        beside = images.stop - images.start
        np.copyto(middle[:beside], moved[images])
        for part in chunks(problem.places[0], height):
            window = read[:, :beside, part]
            rows = buffer[: window.size].reshape(window.shape)
            np.copyto(rows, window)
            places = slice(part.start * width, part.stop * width)
            yield images, places, rows.reshape(groups, -1, problem.inner)


def windows(last: Array, problem: Problem) -> Array:
    """What a sliding kernel reads: (n, *padded, groups * C) gives (groups, n, *places, *kernel, C), a view."""
    n, *steps, c = last.strides
    between = [step * d for step, d in zip(steps, problem.window.dilation, strict=True)]
    along = [step * s for step, s in zip(steps, problem.window.stride, strict=True)]
    shape = (problem.groups, len(last), *problem.places, *problem.window.kernel, problem.channels)
    strides = (c * problem.channels, n, *along, *between, c)
    return np.lib.stride_tricks.as_strided(last, shape, strides, writeable=False)


def added(y: Array, matrix: Array, problem: Problem) -> Array:
    """The gradient of the input as in `shifted`: shares of all elements, from a matrix (groups, O, elements * C)."""
    groups, channels, places, kernel = problem.groups, problem.channels, problem.places, problem.window.kernel
    some, height = at_once(problem)
    width, dims = prod(places[1:]), len(places)
    result = fresh((len(y), groups * channels, *problem.sizes), y.dtype)
    last = fresh((some, *problem.padded, groups, channels), y.dtype)
    products = fresh((groups * some * height * width * problem.inner,), y.dtype)
    moved = y.reshape(len(y), groups, problem.made, -1).transpose(1, 0, 3, 2)
    for images in chunks(len(y), some):
        sums = last[: images.stop - images.start]
        sums.fill(0)
        for rows in chunks(places[0], height):
            part = moved[:, images, rows.start * width : rows.stop * width]
            values = part.reshape(groups, -1, problem.made)  # a view of a single image
            product = products[: values.shape[1] * groups * problem.inner].reshape(groups, -1, problem.inner)
            np.matmul(values, matrix, product)
            shares = product.reshape(groups, len(sums), -1, *places[1:], *kernel, channels)
            shares = np.moveaxis(shares, (0, -1), (-2, -1))  # (n, *places, *kernel, groups, C)
            for element in np.ndindex(kernel):
                share = shares[(slice(None),) * (1 + dims) + element]
                sums[(slice(None), *read_at(problem, element, rows))] += share
        whole = sums.reshape(len(sums), *problem.padded, -1)[(slice(None), *inside(problem)[1:])]
        np.copyto(result[images], np.moveaxis(whole, -1, 1))
    return result
