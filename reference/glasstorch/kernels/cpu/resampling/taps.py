"""Which elements along a dimension make one of another size, and with what weights?

# Note [Resampling as a table]
Every way to enlarge or shrink a dimension is a table with a row for each element of the result: a few elements of the
input ("taps") and their weights, which add up to one. A filter says how much an element counts at a distance. Images
and volumes are sampled along one dimension after the other, and a gradient goes back through the same tables.

Where does element i of the result stand in the input? Elements are squares of width one, and those of the result are
`scale` wide: the middle of i is at (i + 0.5) * scale, which is 0.5 behind the place of an element. With `align_corners`
elements are points, and the first and the last ones coincide. `nearest` takes the element at the left border of the
square, `nearest-exact` the one in its middle.

Mirrors: aten/src/ATen/native/UpSample.h (area_pixel_compute_scale, area_pixel_compute_source_index,
    get_cubic_upsample_coefficients), cpu/UpSampleKernel.cpp (HelperInterpBase and its subclasses)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.tensor_impl import Array

Filter = Callable[[Array], Array]  # signed distances, in elements -> how much an element counts there
Real = Any  # np.float32 or np.float64: PyTorch computes places in the precision of the elements


class Taps(NamedTuple):
    """For each element of the result, places in the input and their weights: both (output, taps)."""

    places: Array
    weights: Array


class Axis(NamedTuple):
    """One dimension that is sampled anew."""

    size: int
    output: int
    align_corners: bool
    factor: float | None  # how much larger the result is, where the caller says so
    real: Real
    kept: Any  # the dtype in which PyTorch keeps weights

    @property
    def scale(self) -> Real:
        """How far apart the elements of the result are, in elements of the input."""
        if self.align_corners:
            return self.real(self.size - 1) / self.real(self.output - 1) if self.output > 1 else self.real(0)
        if self.factor is not None and self.factor > 0:
            return self.real(1 / self.factor)
        return self.real(self.size) / self.real(self.output)

    def steps(self) -> Array:
        """0, 1, 2, ... for the elements of the result."""
        return np.arange(self.output, dtype=self.real)

    def sources(self) -> Array:
        """Where the elements of the result stand in the input."""
        half = self.real(0.5)
        places: Array = self.scale * self.steps() if self.align_corners else self.scale * (self.steps() + half) - half
        return places


# Filters --------------------------------------------------------------------------------------------------------


def triangle(x: Array) -> Array:
    """1 at 0, falling to 0 at a distance of 1."""
    return np.maximum(1 - np.abs(x), 0)  # type: ignore[no-any-return]


def cubic(x: Array, a: float) -> Array:
    """Keys' piecewise cubic, with slope `a` at a distance of 1, and 0 from 2 on."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0)).astype(x.dtype, copy=False)


def lanczos(x: Array) -> Array:
    """A sine cardinal under a wider one, and 0 from a distance of 3 on."""
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0).astype(x.dtype, copy=False)


# Tables ---------------------------------------------------------------------------------------------------------


def unchanged(axis: Axis) -> Taps:
    """Each element itself."""
    return Taps(np.arange(axis.size)[:, None], np.ones((axis.size, 1), axis.real))


def nearest(axis: Axis, middle: float) -> Taps:
    """The element at the left border (0) or in the middle (0.5) of each square."""
    places = np.floor((axis.steps() + axis.real(middle)) * axis.scale).astype(np.int64)
    return Taps(np.minimum(places, axis.size - 1)[:, None], np.ones((axis.output, 1), axis.real))


def interpolated(axis: Axis, width: int, filter: Filter, from_border: bool) -> Taps:
    """The `width` elements around each place; beyond the border, the border's own, `from_border` on also as a place."""
    sources = np.maximum(axis.sources(), 0) if from_border else axis.sources()
    first = np.minimum(np.floor(sources).astype(np.int64), axis.size - 1)
    behind = np.clip(sources - first, 0, 1).astype(axis.real)
    if from_border:
        behind = behind.astype(axis.kept).astype(axis.real)  # two weights are made of one that is rounded
    offsets = np.arange(1 - width // 2, 1 + width // 2)
    weights = filter(offsets.astype(axis.real) - behind[:, None]).astype(axis.kept).astype(axis.real)
    return Taps(np.clip(first[:, None] + offsets, 0, axis.size - 1), weights)


def antialiased(axis: Axis, width: int, filter: Filter) -> Taps:
    """All elements under the filter, which is stretched where the result is smaller."""
    scale = axis.scale
    stretch = max(scale, axis.real(1))
    support = axis.real(width * 0.5) * stretch
    centers = scale * (axis.steps() + axis.real(0.5))
    first = np.maximum((centers - support + axis.real(0.5)).astype(np.int64), 0)
    last = np.minimum((centers + support + axis.real(0.5)).astype(np.int64), axis.size)
    places = first[:, None] + np.arange((last - first).max())
    distances = (places - centers[:, None] + axis.real(0.5)) * (1 / stretch)
    weights = np.where(places < last[:, None], filter(distances.astype(axis.real)), 0)
    return Taps(np.minimum(places, axis.size - 1), weights / weights.sum(-1, keepdims=True))


Table = Callable[[Axis], Taps]
KEYS = partial(cubic, a=-0.5)  # as in Pillow
SHARP = partial(cubic, a=-0.75)  # as in OpenCV
