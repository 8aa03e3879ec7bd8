"""How many images, and how many of their rows, does a convolution process at a time?

# Note [Images side by side]
The windows of one image are copied as columns in runs as long as a row of the result. Rows of small images are short,
and each run costs a few nanoseconds before its first element. Therefore several small images are laid side by side
first, with the number of the image as the last dimension: a run is then a row of all of them. Large images are
processed one by one, and nothing but their borders is copied for that.

Mirrors: at::native::slow_conv2d_forward's parallel_for over images (aten/src/ATen/native/ConvolutionMM2d.cpp)
Differs: the columns of a whole image are too many for the cache. They are made for some rows of the result at a time.
"""

from __future__ import annotations

from math import ceil, prod

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import chunks, fresh


def together(problem: Problem) -> int:
    """How many images are laid side by side."""
    width = problem.places[-1]
    if width >= thresholds.CONVOLUTION_SIDE_BY_SIDE_BELOW:
        return 1
    return max(1, min(problem.batch, thresholds.CONVOLUTION_RUN // max(1, width)))


def height(problem: Problem, images: int) -> int:
    """For how many rows of the result the columns of some images are made at a time."""
    beside = prod(problem.places[1:]) * images
    columns = thresholds.CONVOLUTION_BLOCK // max(1, problem.groups * problem.inner)
    return min(problem.places[0], ceil(max(columns, thresholds.CONVOLUTION_COLUMNS) / max(1, beside)))


def side_by_side(images: Array) -> Array:
    """Images (n, ...) as rows (..., n); a single one is no copy."""
    rows: Array = images.reshape(-1, 1)
    if len(images) == 1:
        return rows
    rows = fresh((images[0].size, len(images)), images.dtype)
    transposed(images.reshape(len(images), -1), rows)
    return rows


def transposed(matrix: Array, out: Array) -> None:
    """The transpose of a matrix, a tile at a time.

    A tile has few rows where they are long: rows a power of two apart would push each other out of the cache.
    """
    for some in chunks(len(matrix), max(8, thresholds.CONVOLUTION_TILE // max(1, matrix.shape[1]))):
        out[:, some] = matrix[some].T


class Bordered:
    """Images side by side with zeros around: (C, *padded, n). One buffer serves block after block of them."""

    def __init__(self, channels: int, problem: Problem, images: int, dtype: np.dtype[np.generic]) -> None:
        self.bare = not any(problem.window.padding) and images == 1
        if not self.bare:
            self.buffer = fresh((channels, *problem.padded, images), dtype)
            self.buffer.fill(0)
            self.inside = inside(problem)

    def filled(self, images: Array) -> Array:
        """Some images (n, C, *sizes) in the buffer; a single one that needs no zeros stays where it is."""
        filled: Array = images[0][..., None]
        if self.bare:
            return filled
        filled = self.buffer[..., : len(images)]
        for some in chunks(len(images), 16):  # few at a time, as in `transposed`
            filled[(*self.inside, some)] = np.moveaxis(images[some], 0, -1)
        return filled


def inside(problem: Problem) -> tuple[slice, ...]:
    """Where in (C, *padded, n) the images are."""
    spans = zip(problem.window.padding, problem.sizes, strict=True)
    return (slice(None), *(slice(zeros, zeros + size) for zeros, size in spans))


def read_at(problem: Problem, element: Shape, rows: slice) -> tuple[slice, ...]:
    """What one element of the kernel reads of (*padded), in some rows of its places."""
    starts = [at * gap for at, gap in zip(element, problem.window.dilation, strict=True)]
    parts = [rows, *(slice(0, count) for count in problem.places[1:])]
    return tuple(
        slice(first + part.start * step, first + (part.stop - 1) * step + 1, step)
        for first, part, step in zip(starts, parts, problem.window.stride, strict=True)
    )
