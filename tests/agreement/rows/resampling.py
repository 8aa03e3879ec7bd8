"""What do the operators of the family resampling compute?

The oracle of another size is a matrix for each dimension, made row by row; that of a grid goes over one place after
another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import floor, pi, sin
from typing import Any

import numpy as np

from tests.agreement.samples import Row, call, row, t

Array = np.ndarray[Any, Any]
Weight = Callable[[float], float]


def triangle(x: float) -> float:
    return max(1 - abs(x), 0.0)


def cubic(x: float, a: float) -> float:
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def lanczos(x: float) -> float:
    return 1.0 if x == 0 else sin(pi * x) / (pi * x) * sin(pi * x / 3) / (pi * x / 3) if abs(x) < 3 else 0.0


def step(size: int, output: int, aligned: bool, factor: float | None) -> float:
    """How far apart the elements of the result are."""
    if aligned:
        return (size - 1) / (output - 1) if output > 1 else 0.0
    return 1 / factor if factor else size / output


def nearest(size: int, output: int, aligned: bool, factor: float | None, middle: float = 0.0) -> Array:
    places = [min(floor((i + middle) * step(size, output, False, factor)), size - 1) for i in range(output)]
    return np.eye(size)[places]


def interpolated(size: int, output: int, aligned: bool, factor: float | None, weight: Weight, reach: int) -> Array:
    matrix = np.zeros((output, size))
    for i in range(output):
        scale = step(size, output, aligned, factor)
        place = i * scale if aligned else (i + 0.5) * scale - 0.5
        place = max(place, 0.0) if reach == 1 else place
        for j in range(floor(place) + 1 - reach, floor(place) + 1 + reach):
            matrix[i, min(max(j, 0), size - 1)] += weight(place - j)
    return matrix


def antialiased(size: int, output: int, aligned: bool, factor: float | None, weight: Weight, reach: int) -> Array:
    scale = step(size, output, aligned, factor)
    stretch = max(scale, 1.0)
    matrix = np.zeros((output, size))
    for i in range(output):
        center = (i + 0.5) * scale
        first, last = center - reach * stretch, center + reach * stretch
        for j in range(max(int(first + 0.5), 0), min(int(last + 0.5), size)):
            matrix[i, j] = weight((j + 0.5 - center) / stretch)
    return matrix / matrix.sum(1, keepdims=True)


Matrix = Callable[..., Array]
LINEAR: Matrix = partial(interpolated, weight=triangle, reach=1)
CUBIC: Matrix = partial(interpolated, weight=partial(cubic, a=-0.75), reach=2)
EXACT: Matrix = partial(nearest, middle=0.5)
ANTIALIASED: dict[str, Matrix] = {
    "bilinear": partial(antialiased, weight=triangle, reach=1),
    "bicubic": partial(antialiased, weight=partial(cubic, a=-0.5), reach=2),
    "lanczos": partial(antialiased, weight=lanczos, reach=3),
}


def applied(x: Array, matrices: Sequence[Array]) -> Array:
    for dim, matrix in enumerate(matrices, 2):
        x = np.moveaxis(np.tensordot(matrix, x, (1, dim)), 0, dim)
    return x


def forward(matrix: Matrix, aligns: bool) -> Callable[..., Array]:
    def oracle(x: Array, output: Sequence[int], *how: Any) -> Array:
        aligned, factors = (how[0], how[1:]) if aligns else (False, how)
        factors = factors or [None] * len(output)
        axes = zip(x.shape[2:], output, factors, strict=True)
        return applied(x, [matrix(size, out, aligned, factor) for size, out, factor in axes])

    return oracle


def backward(matrix: Matrix, aligns: bool) -> Callable[..., Array]:
    def oracle(grad: Array, output: Sequence[int], sizes: Sequence[int], *how: Any) -> Array:
        aligned = how[0] if aligns else False
        axes = zip(sizes[2:], output, strict=True)
        return applied(grad, [matrix(size, out, aligned, None).T for size, out in axes])

    return oracle


def by_scales(matrix: Matrix, aligns: bool) -> Callable[..., Array]:
    def oracle(x: Array, output: Sequence[int] | None, *how: Any) -> Array:
        factors = how[-1] or [None] * (x.ndim - 2)
        sizes = output or [int(size * factor) for size, factor in zip(x.shape[2:], factors, strict=True)]
        return forward(matrix, aligns)(x, sizes, *how[:-1], *factors)

    return oracle


# Grids ----------------------------------------------------------------------------------------------------------


def inward(place: float, size: int, padding: int, aligned: bool) -> float:
    """A place brought into the input."""
    if padding == 2:
        low, high = (0.0, size - 1.0) if aligned else (-0.5, size - 0.5)
        while high > low and not low <= place <= high:
            place = 2 * low - place if place < low else 2 * high - place
    return min(max(place, 0.0), size - 1.0) if padding else place


def line(number: float, size: int, mode: int, padding: int, aligned: bool) -> Array:
    """The weight of each element along one dimension."""
    place = (number + 1) / 2 * (size - 1) if aligned else ((number + 1) * size - 1) / 2
    place = place if mode == 2 else inward(place, size, padding, aligned)
    weights = np.zeros(size)
    near = [round(place)] if mode == 1 else range(floor(place) - 1, floor(place) + 3)
    for j in near:
        weight = 1.0 if mode == 1 else cubic(place - j, -0.75) if mode == 2 else triangle(place - j)
        element = int(inward(j, size, padding, aligned)) if mode == 2 else j
        if 0 <= element < size:
            weights[element] += weight
    return weights


def read(x: Array, grid: Array, mode: int, padding: int, aligned: bool) -> Array:
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for at in np.ndindex(*grid.shape[:-1]):
        found = x[at[0]]
        for number, size in zip(grid[at], x.shape[:1:-1], strict=True):
            found = found @ line(number, size, mode, padding, aligned)
        result[at[0], :, *at[1:]] = found
    return result


def gradients(grad: Array, x: Array, grid: Array, *how: Any) -> tuple[Array, Array]:
    """By units of the input, in which the result is linear, and by differences that are exact for what is cubic."""
    mode, padding, aligned = how[:3]
    to_x, to_grid = np.zeros_like(x), np.zeros_like(grid)
    for at in np.ndindex(*x.shape):
        unit = np.zeros_like(x)
        unit[at] = 1
        to_x[at] = (read(unit, grid, mode, padding, aligned) * grad).sum()
    for at in np.ndindex(*grid.shape):
        values = []
        for steps in (-2, -1, 1, 2):
            moved = grid.copy()
            moved[at] += steps * 1e-4
            values.append((read(x, moved, mode, padding, aligned) * grad).sum())
        to_grid[at] = (8 * (values[2] - values[1]) - (values[3] - values[0])) / 12e-4
    return to_x, to_grid


def laid(theta: Array, size: Sequence[int], aligned: bool) -> Array:
    """The map of each place, times (x, y, 1) or (x, y, z, 1)."""
    grid = np.zeros((size[0], *size[2:], len(size) - 2))
    for n, *at in np.ndindex(*grid.shape[:-1]):
        ends = [
            2 * i / (steps - 1) - 1 if aligned else (2 * i + 1) / steps - 1
            for i, steps in zip(at, size[2:], strict=True)
        ]
        grid[n, *at] = theta[n] @ [*ends[::-1], 1]
    return grid


def laid_backward(grad: Array, size: Sequence[int], aligned: bool) -> Array:
    dims = len(size) - 2
    units = np.eye(dims * (dims + 1)).reshape(-1, dims, dims + 1)
    felt = [(laid(np.array([unit] * size[0]), size, aligned) * grad).reshape(size[0], -1).sum(1) for unit in units]
    return np.stack(felt, 1).reshape(size[0], dims, dims + 1)


INPUTS = {1: t(2, 3, 5), 2: t(2, 2, 4, 5), 3: t(1, 2, 3, 4, 3)}
SIZES = {1: [2, 3, 5], 2: [2, 2, 4, 5], 3: [1, 2, 3, 4, 3]}
LARGER, SMALLER = {1: [8], 2: [7, 8], 3: [5, 6, 4]}, {1: [3], 2: [3, 2], 3: [2, 2, 2]}
GRADS = {1: t(2, 3, 8), 2: t(2, 2, 7, 8), 3: t(1, 2, 5, 6, 4)}
NAMES: dict[str, tuple[int, Matrix, bool]] = {
    **{f"upsample_nearest{d}d": (d, nearest, False) for d in (1, 2, 3)},
    **{f"_upsample_nearest_exact{d}d": (d, EXACT, False) for d in (1, 2, 3)},
    "upsample_linear1d": (1, LINEAR, True),
    "upsample_bilinear2d": (2, LINEAR, True),
    "upsample_trilinear3d": (3, LINEAR, True),
    "upsample_bicubic2d": (2, CUBIC, True),
    **{f"_upsample_{kind}2d_aa": (2, matrix, True) for kind, matrix in ANTIALIASED.items()},
}
REAL = ("float32", "float64")
IMAGE, VOLUME = t(2, 2, 3, 4), t(1, 2, 3, 2, 4)
PLACES, VOLUME_PLACES = t(2, 2, 3, 2, low=-1.4, high=1.4), t(1, 2, 2, 2, 3, low=-1.4, high=1.4)
HOW = [(mode, padding, (mode + padding) % 2 == 1) for mode in (0, 1, 2) for padding in (0, 1, 2)]
HOW_VOLUMES = [(0, 0, False), (0, 1, True), (0, 2, False), (1, 0, True)]
SMALL_PLACES = t(1, 1, 2, 2, low=-1.4, high=1.4)
BOTH = [True, True]


def aligned_or_not(aligns: bool) -> list[tuple[bool, ...]]:
    return [(False,), (True,)] if aligns else [()]


def scale_of(size: list[int]) -> list[float]:
    """The scale of a signal: without it a graph, which does not name overloads, reads the call as the form `vec`."""
    return [size[0] / 5] if len(size) == 1 else []


ROWS: tuple[Row, ...] = (
    *(row(name, forward(matrix, aligns), *(call(INPUTS[d], size, *aligned, *scale_of(size))
        for size in (LARGER[d], SMALLER[d]) for aligned in aligned_or_not(aligns)), dtypes=REAL)
        for name, (d, matrix, aligns) in NAMES.items()),
    *(row(f"{name}.vec", by_scales(matrix, aligns), *(call(INPUTS[d], *how)
        for aligned in aligned_or_not(aligns)
        for how in ((LARGER[d], *aligned, None), (None, *aligned, [1.6] * d))), dtypes=REAL, cuda=False)
        for name, (d, matrix, aligns) in NAMES.items()),
    *(row(f"{name}_backward", backward(matrix, aligns), *(call(GRADS[d], LARGER[d], SIZES[d], *aligned)
        for aligned in aligned_or_not(aligns)), dtypes=REAL)
        for name, (d, matrix, aligns) in NAMES.items()),
    row("grid_sampler", read, call(IMAGE, PLACES, 0, 0, False), call(VOLUME, VOLUME_PLACES, 0, 1, True), dtypes=REAL,
        cuda=False),
    row("grid_sampler_2d", read, *(call(IMAGE, PLACES, *how) for how in HOW), dtypes=REAL),
    row("grid_sampler_3d", read, *(call(VOLUME, VOLUME_PLACES, *how) for how in HOW_VOLUMES), dtypes=REAL),
    row("grid_sampler_2d_backward", gradients, *(call(t(1, 1, 1, 2), t(1, 1, 2, 3), SMALL_PLACES, *how, BOTH)
        for how in ((0, 2, True), (1, 0, False), (2, 1, False))), dtypes=("float64",), tolerance=200),
    row("grid_sampler_3d_backward", gradients, call(t(1, 1, 1, 1, 2), t(1, 1, 2, 2, 3), t(1, 1, 1, 2, 3), 0, 2, False,
        BOTH), dtypes=("float64",), tolerance=200),
    row("affine_grid_generator", laid, *(call(t(2, 2, 3), [2, 1, 3, 4], aligned) for aligned in (False, True)),
        *(call(t(1, 3, 4), [1, 1, 2, 3, 2], aligned) for aligned in (False, True)), dtypes=REAL, cuda=False),
    row("affine_grid_generator_backward", laid_backward,
        *(call(t(2, 3, 4, 2), [2, 1, 3, 4], aligned) for aligned in (False, True)), dtypes=REAL, cuda=False),
)  # fmt: skip
