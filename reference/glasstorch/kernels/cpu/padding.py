"""How are tensors padded by their own elements, and pixels and channels exchanged, on the CPU?

# Note [Padding as a table]
Along each dimension a table says which element of the input stands at each place of the result: counted from the
border on, back and forth for a reflection, and the border's own again and again for a replication. The gradient goes
back through the same tables: what stands at several places is added up.

Mirrors: aten/src/ATen/native/cpu/PaddingKernel.cpp, PixelShuffleKernel.cpp, ChannelShuffleKernel.cpp
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.structured import Out, add_structured, finish_as, shape_function, structured
from glasstorch.operators.shapes import padding as shapes

CPU = KernelTable("CPU")
Table = Callable[[int, int, int], Array]


def reflected(size: int, before: int, after: int) -> Array:
    """Which element stands at each place: 2 1 0 1 2 3 2 1 for four elements with a padding of two on both sides."""
    places = np.abs(np.arange(-before, size + after))
    return np.where(places < size, places, 2 * (size - 1) - places)


def replicated(size: int, before: int, after: int) -> Array:
    """Which element stands at each place: 0 0 0 1 2 3 3 3 for four elements with a padding of two on both sides."""
    return np.clip(np.arange(-before, size + after), 0, size - 1)


def tables(table: Table, sizes: Sequence[int], padding: Sequence[int]) -> list[Array]:
    """A table for each padded dimension, the last one first, as the numbers of the padding stand."""
    return [table(sizes[-1 - i], *padding[2 * i : 2 * i + 2]) for i in range(len(padding) // 2)]


def register(name: str, table: Table) -> None:
    """Register a padding and its backward kernel. See Note [Padding as a table]."""
    shape, shape_backward = shape_function(name), shape_function(f"{name}_backward")

    def pad(keys: int, self: Tensor, padding: Sequence[int], out: Out = None) -> Tensor:
        result = shape(self, padding)
        found = self.array()
        for i, places in enumerate(tables(table, self._shape, padding)):
            found = np.take(found, places, -1 - i)
        return finish_as(result, found, out)

    def backward(keys: int, grad_output: Tensor, self: Tensor, padding: Sequence[int], out: Out = None) -> Tensor:
        result = shape_backward(grad_output, self, padding)
        found = widened(grad_output.array())
        for i, places in enumerate(tables(table, self._shape, padding)):
            found = added_up(found, places, self._shape[-1 - i], -1 - i)
        return finish_as(result, found, out)

    add_structured(CPU, name, pad)
    add_structured(CPU, f"{name}_backward", backward)


def added_up(grad: Array, places: Array, size: int, dim: int) -> Array:
    """Along one dimension, the sum of the gradients of all places at which each element stands."""
    lines = np.moveaxis(grad, dim, 0)
    sums = np.zeros((size, *lines.shape[1:]), grad.dtype)
    np.add.at(sums, places, lines)
    return np.moveaxis(sums, 0, dim)


for _dims in (1, 2, 3):
    register(f"reflection_pad{_dims}d", reflected)
    register(f"replication_pad{_dims}d", replicated)


# Pixels and channels --------------------------------------------------------------------------------------------


@structured(CPU, "pixel_shuffle")
def pixel_shuffle(keys: int, self: Tensor, upscale_factor: int, out: Out = None) -> Tensor:
    """Each r * r channels become the pixels of one square."""
    result = shapes.pixel_shuffle(self, upscale_factor)
    *batch, channels, height, width = self._shape
    r = upscale_factor
    split = self.array().reshape(prod(batch), channels // (r * r), r, r, height, width)
    return finish_as(result, split.transpose(0, 1, 4, 2, 5, 3).copy().reshape(result.shape), out)


@structured(CPU, "pixel_unshuffle")
def pixel_unshuffle(keys: int, self: Tensor, downscale_factor: int, out: Out = None) -> Tensor:
    """The pixels of each square become channels."""
    result = shapes.pixel_unshuffle(self, downscale_factor)
    *batch, channels, height, width = self._shape
    r = downscale_factor
    if not self.numel():
        return finish_as(result, self.array().copy(), out)
    split = self.array().reshape(prod(batch), channels, height // r, r, width // r, r)
    return finish_as(result, split.transpose(0, 1, 3, 5, 2, 4).copy().reshape(result.shape), out)


@structured(CPU, "channel_shuffle")
@structured(CPU, "native_channel_shuffle")
def channel_shuffle(keys: int, self: Tensor, groups: int, out: Out = None) -> Tensor:
    """The first channels of all groups come first, then the second ones."""
    result = shapes.channel_shuffle(self, groups)
    batch, channels, *rest = self._shape
    split = self.array().reshape(batch, groups, channels // groups, *rest)
    return finish_as(result, split.swapaxes(1, 2).copy().reshape(result.shape), out)
