"""How does a convolution with a large kernel become a product of Fourier transforms?

It is computed in float64: the error of a transform is relative to the largest number of an image, and must be small
beside the smaller ones too. A NaN or an infinity would spread over the whole image.

Mirrors: CUDNN_CONVOLUTION_FWD_ALGO_FFT; PyTorch has no such way on the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.convolution.problem import Problem


def forward(x: Array, weight: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (O, C / groups, *kernel) give (N, O, *places)."""
    images = of_images(x, problem.channels, problem, problem.window.padding)
    return back(np.matmul(of_kernels(weight, problem).conj(), images), problem, problem.places, x)


def backward_input(y: Array, weight: Array, problem: Problem) -> Array:
    """(N, O, *places) and (O, C / groups, *kernel) give (N, C, *sizes)."""
    images = of_images(y, problem.made, problem)
    product = np.matmul(of_kernels(weight, problem).swapaxes(-1, -2), images)
    return back(product, problem, problem.sizes, y, problem.window.padding)


def backward_weight(x: Array, y: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (N, O, *places) give (O, C / groups, *kernel)."""
    images = of_images(x, problem.channels, problem, problem.window.padding)
    product = np.matmul(of_images(y, problem.made, problem).conj(), images.swapaxes(-1, -2))
    shape = (problem.groups * problem.made, 1, problem.channels)  # as if of so many images
    product = np.moveaxis(product.reshape(*product.shape[:-3], *shape), -3, -1)
    return back(product, problem, problem.window.kernel, x)


def lengths(problem: Problem) -> Shape:
    """Sizes that hold the padded images, and have small factors only."""
    return tuple(map(quick, problem.padded))


def quick(size: int) -> int:
    """The least number from a size on whose factors are 2, 3 and 5.

    >>> quick(77)
    80
    """
    rest = size
    for factor in (2, 3, 5):
        while rest % factor == 0:
            rest //= factor
    return size if rest == 1 else quick(size + 1)


def frequencies(array: Array, problem: Problem) -> Array:
    """The transforms over the last dimensions, in float64."""
    dims = tuple(range(-len(problem.sizes), 0))
    return np.fft.rfftn(array.astype(np.float64), lengths(problem), dims)


def of_images(images: Array, channels: int, problem: Problem, padding: Shape | None = None) -> Array:
    """(N, groups * channels, *sizes) give (*frequencies, groups, channels, N)."""
    if padding is not None:
        images = np.pad(images, [(0, 0), (0, 0), *((zeros, zeros) for zeros in padding)])
    spread = frequencies(images, problem)
    spread = spread.reshape(len(images), problem.groups, channels, *spread.shape[2:])
    return np.moveaxis(spread, (1, 2, 0), (-3, -2, -1))


def of_kernels(weight: Array, problem: Problem) -> Array:
    """(groups * O, C, *kernel) give (*frequencies, groups, O, C)."""
    spread = frequencies(weight.reshape(problem.groups, problem.made, problem.channels, *weight.shape[2:]), problem)
    return np.moveaxis(spread, (0, 1, 2), (-3, -2, -1))


def back(product: Array, problem: Problem, sizes: Shape, like: Array, start: Shape | None = None) -> Array:
    """(*frequencies, groups, rows, columns) give (columns, groups * rows, *sizes): what lies from `start` on."""
    spread = np.moveaxis(product, (-1, -3, -2), (0, 1, 2))
    array = np.fft.irfftn(spread, lengths(problem), tuple(range(3, spread.ndim)))
    spans = zip(start or (0,) * len(sizes), sizes, strict=True)
    within: Any = (..., *(slice(first, first + size) for first, size in spans))
    wanted: Array = array[within]
    return wanted.reshape(len(wanted), -1, *sizes).astype(like.dtype)
