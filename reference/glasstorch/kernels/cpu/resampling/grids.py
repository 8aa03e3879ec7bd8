"""How is an image or a volume read at the places of a grid on the CPU?

Along each dimension a place has a few taps with weights (see Note [Resampling as a table]), which differ from place to
place; the result adds up the products over all dimensions. The grid's gradient is made of the weights' slopes: what
they change by as the place moves. Half precision is rounded after each step, as in PyTorch: places have few bits there.

Mirrors: aten/src/ATen/native/GridSampler.cpp, GridSampler.h (grid_sampler_unnormalize, clip_coordinates,
    reflect_coordinates, and the same with _set_grad), cpu/GridSamplerKernel.cpp
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.resampling.taps import SHARP
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, add_structured, finish_as, shape_function
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


class Taps(NamedTuple):
    """Along one dimension, the taps of each place: all (batch, taps, places)."""

    places: Array
    inside: Array  # whether a tap lies in the input; it reads 0 where it does not
    weights: Array
    slopes: Array  # of the weights, as the grid's number grows


def padded(coordinate: Array, size: int, padding: int, align_corners: bool, nan: float = 0) -> tuple[Array, Array]:
    """A coordinate brought into the input, and how it moves there: 1, -1 where it is reflected, or 0 at the border.

    What is not a number goes to `nan`: PyTorch's kernel of images brings it to the first element, that of volumes to
    the last one.
    """
    real, sign = coordinate.dtype.type, np.ones_like(coordinate)
    if padding == ZEROS:
        return coordinate, sign
    if padding == REFLECTION:
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if not span:
            return np.zeros_like(coordinate), np.zeros_like(coordinate)
        away = coordinate - real(low)
        there_and_back = real(2 * span)
        rest = np.abs(away) - np.trunc(np.abs(away) / there_and_back) * there_and_back
        sign = np.where((away < 0) != (rest > span), -sign, sign)
        coordinate = np.minimum(rest, there_and_back - rest) + real(low)
    coordinate = np.where(np.isnan(coordinate), real(nan), coordinate)
    sign = np.where((coordinate <= 0) | (coordinate >= size - 1), 0, sign).astype(real)
    return np.minimum(np.where(coordinate > 0, coordinate, 0), size - 1).astype(real), sign


def taps_of(numbers: Array, size: int, mode: int, padding: int, align_corners: bool, volume: bool) -> Taps:
    """The taps along one dimension, for numbers (batch, places) of which -1 and 1 are the input's borders."""
    real = numbers.dtype.type
    width = size - 1 if align_corners else size
    coordinate = (numbers + 1) * real(width / 2) - real(0 if align_corners else 0.5)
    slope = np.full_like(numbers, width / 2)
    if mode != BICUBIC:
        coordinate, sign = padded(coordinate, size, padding, align_corners, size - 1 if volume else 0)
        slope = slope * sign
        if volume:  # PyTorch's kernel of volumes takes what is not finite for a place outside
            coordinate = np.where(np.isfinite(coordinate), coordinate, real(-100))
    first = np.rint(coordinate) if mode == NEAREST else np.floor(coordinate)
    behind = (coordinate - first)[:, None]
    if mode == NEAREST:
        places, weights, slopes = first[:, None], np.ones_like(behind), np.zeros_like(behind)
    elif mode == BILINEAR:
        places = first[:, None] + np.arange(2, dtype=real)[:, None]
        weights = np.concatenate([1 - behind, behind], 1)
        slopes = slope[:, None] * np.array([[-1], [1]], real)
    else:
        offsets = np.arange(-1, 3, dtype=real)[:, None]
        away = offsets - behind
        places = padded(first[:, None] + offsets, size, padding, align_corners)[0]
        weights = np.where(np.isnan(behind), behind, SHARP(away))
        slopes = slope[:, None] * cubic_slope(away)
    inside = (places > -1) & (places < size)
    return Taps(np.where(inside, places, 0).astype(np.int64), inside, weights, slopes)


def cubic_slope(away: Array, a: float = -0.75) -> Array:
    """How fast the weight of a tap grows as the place moves towards greater numbers."""
    x = np.abs(away)
    near = (3 * (a + 2) * x - 2 * (a + 3)) * x
    far = (3 * a * x - 10 * a) * x + 8 * a
    return (-np.sign(away) * np.where(x <= 1, near, far)).astype(away.dtype)


class Tap(NamedTuple):
    """One tap in all dimensions: its place in the flattened input, whether it is there, and one weight a dimension."""

    place: Array  # (batch, places), as are the others
    inside: Array
    weights: list[Array]
    slopes: list[Array]

    def weight(self) -> Array:
        """The product of all weights, that of the last dimension first."""
        return prod(self.weights[::-1])  # type: ignore[return-value]


class Sampling:
    """An input and a grid, flattened, and the taps that join them."""

    def __init__(self, input: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> None:
        numbers = grid.array()
        self.sizes = input._shape[2:]
        self.batch, self.channels = input._shape[:2]
        self.elements = input.array().reshape(self.batch, self.channels, prod(self.sizes))
        lines = numbers.reshape(self.batch, prod(grid._shape[1:-1]), len(self.sizes))
        self.axes = [
            taps_of(lines[..., -1 - dim], size, mode, padding, align_corners, len(self.sizes) == 3)
            for dim, size in enumerate(self.sizes)
        ]

    def __iter__(self) -> Iterator[Tap]:
        """Every combination of a tap from each dimension."""
        for chosen in product(*(range(axis.places.shape[1]) for axis in self.axes)):
            picked = list(zip(self.axes, chosen, strict=True))
            place: Array = np.int64(0)  # type: ignore[assignment]
            inside: Array = np.bool_(True)  # type: ignore[assignment]
            for (axis, tap), size in zip(picked, self.sizes, strict=True):
                place = place * size + axis.places[:, tap]
                inside = inside & axis.inside[:, tap]
            weights = [axis.weights[:, tap] for axis, tap in picked]
            yield Tap(place, inside, weights, [axis.slopes[:, tap] for axis, tap in picked])


@slot
def read(sampling: Sampling, tap: Tap) -> Array:
    """The elements at a tap of every place: (batch, channels, places)."""
    return np.where(tap.inside[:, None], np.take_along_axis(sampling.elements, tap.place[:, None], 2), 0)


@slot
def sample(sampling: Sampling) -> Array:
    """(batch, channels, places)."""
    return sum(read.run(sampling, tap) * tap.weight()[:, None] for tap in sampling)  # type: ignore[return-value]


@slot
def gradient_of_input(sampling: Sampling, grad: Array) -> Array:
    """Each place's gradient goes to its taps, times their weights: (batch, channels, elements)."""
    batch, channels, count = sampling.elements.shape
    sums = np.zeros((batch * count, channels), grad.dtype)
    rows = np.arange(batch)[:, None] * count
    for tap in sampling:
        shares = np.where(tap.inside[:, None], grad * tap.weight()[:, None], 0)
        np.add.at(sums, (rows + tap.place).ravel(), shares.swapaxes(1, 2).reshape(-1, channels))
    return sums.reshape(batch, count, channels).swapaxes(1, 2)


@slot
def gradient_of_grid(sampling: Sampling, grad: Array) -> Array:
    """What each place's result changes by, as its numbers grow: (batch, places, dimensions), x first."""
    dims = len(sampling.sizes)
    sums = np.zeros((dims, *grad.shape[::2]), grad.dtype)
    for tap in sampling:
        felt = (read.run(sampling, tap) * grad).sum(1)
        for dim in range(dims):
            others = prod(weight for i, weight in enumerate(tap.weights) if i != dim)
            sums[dim] += felt * tap.slopes[dim] * others
    return np.moveaxis(sums[::-1], 0, -1)


def register(name: str) -> None:
    """Register a sampler and its backward operator."""
    shape, shape_backward = shape_function(name), shape_function(f"{name}_backward")

    def sampler(
        keys: int, input: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool, out: Out = None
    ) -> Tensor:
        result = shape(input, grid, mode, padding, align_corners)
        sampled = quietly(lambda: sample.run(Sampling(input, grid, mode, padding, align_corners)))
        return finish_as(result, sampled.reshape(result.shape), out)

    def backward(
        keys: int,
        grad_output: Tensor,
        input: Tensor,
        grid: Tensor,
        mode: int,
        padding: int,
        align_corners: bool,
        mask: Sequence[bool],
        out: Outs = None,
    ) -> tuple[Tensor | None, Tensor]:
        to_input, to_grid = shape_backward(grad_output, input, grid, mode, padding, align_corners, mask)
        sampling = quietly(Sampling, input, grid, mode, padding, align_corners)
        grad = grad_output.array().reshape(*sampling.elements.shape[:2], -1)
        outs = out or (None, None)

        def computed(gradient: Callable[[Sampling, Array], Array], result: Result) -> Array:
            return quietly(gradient, sampling, grad).reshape(result.shape)

        return (
            to_input and finish_as(to_input, computed(gradient_of_input.run, to_input), outs[0]),
            finish_as(to_grid, computed(gradient_of_grid.run, to_grid), outs[1]),
        )

    add_structured(CPU, name, sampler)
    add_structured(CPU, f"{name}_backward", backward)


for _name in ("grid_sampler_2d", "grid_sampler_3d"):
    register(_name)
