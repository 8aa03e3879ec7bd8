"""How are images and volumes read fast at the places of a grid?

An image at a time, some channels and places of it: what is read at a tap, its products and their sums stay in cache.
NumPy takes elements along rows of memory, and adds to them, without an index for each dimension.

Mirrors: aten/src/ATen/native/cpu/GridSamplerKernel.cpp
Differs: PyTorch reads all taps of a few places, a vector of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import chunks
from glasstorch.kernels.cpu.resampling import grids as plain
from glasstorch.kernels.cpu.resampling.grids import Sampling, Tap, Taps

IN_PARTS = (np.float32, np.float64)
WHEN = "float32 and float64; from each image many elements are read"


def applies(sampling: Sampling) -> bool:
    """Whether the calls of NumPy that each image takes pay."""
    read = sampling.channels * count_of(sampling)
    return sampling.elements.dtype in IN_PARTS and read >= thresholds.GRID_BY_IMAGES_FROM


def count_of(sampling: Sampling) -> int:
    """How many places each image is read at."""
    count: int = sampling.axes[0].places.shape[-1]
    return count


def part_of(sampling: Sampling, image: int, places: slice) -> Sampling:
    """One image, read at some of its places."""
    one = slice(image, image + 1)
    part = copy(sampling)
    part.batch, part.elements = 1, sampling.elements[one]
    part.axes = [Taps(*(array[one, :, places] for array in axis)) for axis in sampling.axes]
    return part


def parts(sampling: Sampling) -> Iterator[tuple[int, slice, Sampling]]:
    """Each image at some places after others: so many that all its channels stay in cache there."""
    for image in range(sampling.batch):
        for places in chunks(count_of(sampling), max(1, thresholds.BLOCK // sampling.channels)):
            yield image, places, part_of(sampling, image, places)


@fast(plain.read, when="float32 and float64", benchmark="fast: grid_sample, 8x16x32x32", exact="bits")
def read(sampling: Sampling, tap: Tap) -> Array:
    """NumPy takes elements along one dimension faster than along the last of several."""
    batch, channels, _ = sampling.elements.shape
    if sampling.elements.dtype not in IN_PARTS or not tap.place.size:
        return plain.read.plain(sampling, tap)
    found = np.empty((batch, channels, tap.place.shape[1]), sampling.elements.dtype)
    for image, place, into in zip(sampling.elements, tap.place, found, strict=True):
        np.take(image, place, axis=1, out=into, mode="clip")  # all are within: nothing is clipped, or checked
    if not tap.inside.all():
        np.copyto(found, 0, where=~tap.inside[:, None])
    return found


@fast(plain.sample, when=WHEN, benchmark="fast: grid_sample, 8x16x32x32", exact="bits")
def sample(sampling: Sampling) -> Array:
    if not applies(sampling):
        return plain.sample.plain(sampling)
    found = np.empty((sampling.batch, sampling.channels, count_of(sampling)), sampling.elements.dtype)
    for image, places, part in parts(sampling):
        found[image, :, places] = plain.sample.plain(part)[0]
    return found


@fast(plain.gradient_of_input, when=WHEN, benchmark="fast: grid_sample backward, 8x16x32x32", exact="bits")
def gradient_of_input(sampling: Sampling, grad: Array) -> Array:
    """Some channels of an image at a time: their elements are the rows of one dimension."""
    if not applies(sampling):
        return plain.gradient_of_input.plain(sampling, grad)
    sums = np.zeros(sampling.elements.shape, grad.dtype)
    _, channels, size = sums.shape
    count = count_of(sampling)
    step = min(channels, max(1, thresholds.BLOCK // count))
    begins = size * np.arange(step)[:, None]
    for image in range(sampling.batch):
        for tap in part_of(sampling, image, slice(None)):
            weight, within = tap.weight(), None if tap.inside.all() else tap.inside
            places = begins + tap.place
            for some in chunks(channels, step):
                shares = grad[image, some] * weight
                if within is not None:
                    np.copyto(shares, 0, where=~within)
                np.add.at(sums[image, some].reshape(-1), places[: len(shares)].reshape(-1), shares.reshape(-1))
    return sums


@fast(plain.gradient_of_grid, when=WHEN, benchmark="fast: grid_sample backward, 8x16x32x32", exact="bits")
def gradient_of_grid(sampling: Sampling, grad: Array) -> Array:
    if not applies(sampling):
        return plain.gradient_of_grid.plain(sampling, grad)
    found = np.empty((sampling.batch, count_of(sampling), len(sampling.sizes)), grad.dtype)
    for image, places, part in parts(sampling):
        found[image, places] = plain.gradient_of_grid.plain(part, grad[image : image + 1, :, places])[0]
    return found
