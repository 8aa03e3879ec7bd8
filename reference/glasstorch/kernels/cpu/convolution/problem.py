"""Which sizes decide how a convolution is computed, and what would each way cost?

Mirrors: the key of cuDNN's benchmark cache (ConvolutionParams, aten/src/ATen/native/cudnn/ConvShared.h)
Differs: costs are estimates that can be asked for; cuDNN measures, and keeps the results to itself.
"""

from __future__ import annotations

from enum import Enum
from math import prod
from typing import NamedTuple

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.dispatch.fast import slot
from glasstorch.operators.shapes.convolution import Window

NANOSECONDS_PER_PRODUCT = 0.025  # of a multiplication and an addition in a product of matrices in float32
NANOSECONDS_PER_COPY = 1.0  # of a copied element


class Product(Enum):
    """What is computed; see Note [Three products]."""

    FORWARD = "forward"
    INPUT = "input"
    WEIGHT = "weight"


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


@slot
def ways(product: Product, problem: Problem) -> dict[str, float]:
    """What each way to compute a product would cost in nanoseconds; the plain kernels know one."""
    columns = problem.batch * problem.groups * problem.inner * prod(problem.places)
    return {"columns": problem.multiplications * NANOSECONDS_PER_PRODUCT + columns * NANOSECONDS_PER_COPY}
