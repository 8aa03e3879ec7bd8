"""Which sizes decide how a convolution is computed?

Mirrors: ConvolutionParams (aten/src/ATen/native/cudnn/ConvShared.h), ConvParams (aten/src/ATen/native/ConvUtils.h)
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.operators.shapes.convolution import Window


class Problem(NamedTuple):
    """One convolution: (batch, groups * channels, *sizes) gives (batch, groups * made, *places)."""

    batch: int
    groups: int
    channels: int  # that an output reads, those of one group
    made: int  # outputs of one group
    sizes: Shape
    places: Shape
    window: Window
    dtype: np.dtype[np.generic]

    @property
    def elements(self) -> int:
        """Of the kernel."""
        return prod(self.window.kernel)

    @property
    def inner(self) -> int:
        """How many products each output of the forward product adds up."""
        return self.channels * self.elements

    @property
    def padded(self) -> Shape:
        """The sizes of the input with the zeros around it."""
        return tuple(size + 2 * zeros for size, zeros in zip(self.sizes, self.window.padding, strict=True))

    @property
    def multiplications(self) -> int:
        """Of each of the three products."""
        return self.batch * self.groups * self.made * self.inner * prod(self.places)


def problem_of(batch: int, weight: Array, window: Window, groups: int, sizes: Shape, places: Shape) -> Problem:
    """The convolution with a weight (groups * made, channels, *kernel), from images of some sizes to so many places."""
    made = len(weight) // groups
    return Problem(batch, groups, weight.shape[1], made, tuple(sizes), tuple(places), window, weight.dtype)
