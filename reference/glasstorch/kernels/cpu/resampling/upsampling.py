"""How are signals, images and volumes brought to another size on the CPU?

See Note [Resampling as a table] in `taps`.

Mirrors: aten/src/ATen/native/cpu/UpSampleKernel.cpp, UpSampleMoreKernel.cpp
Differs: the gradient of a result that is as large as the input, with a scale that says otherwise, is the derivative of
    what was computed; PyTorch passes such a gradient on unchanged. Results of width one are what others are, too;
    PyTorch mistakes their memory order, and leaves out the height when it samples with antialiasing, or bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.resampling.taps import (
    KEYS,
    SHARP,
    Axis,
    Table,
    Taps,
    antialiased,
    interpolated,
    lanczos,
    nearest,
    triangle,
    unchanged,
)
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, add_structured, finish_as, shape_function

CPU = KernelTable("CPU")


class Way(NamedTuple):
    """How an operator samples."""

    table: Table
    copies: bool  # whether a dimension that keeps its size is not sampled, whatever the scale
    aligns: bool = True  # whether the operator has an argument `align_corners`
    weighted: bool = True  # whether elements are added up; if not, each is one of the input's
    rounds: bool = False  # whether weights have the precision of the elements, half precision too
    single: bool = False  # whether places have single precision for every dtype


NEAREST, EXACT = partial(nearest, middle=0.0), partial(nearest, middle=0.5)
LINEAR = partial(interpolated, width=2, filter=triangle, from_border=True)
CUBIC = partial(interpolated, width=4, filter=SHARP, from_border=False)

WAYS = {
    "upsample_nearest1d": Way(NEAREST, copies=False, aligns=False, weighted=False),
    "upsample_nearest2d": Way(NEAREST, copies=True, aligns=False, weighted=False, single=True),
    "upsample_nearest3d": Way(NEAREST, copies=False, aligns=False, weighted=False),
    "_upsample_nearest_exact1d": Way(EXACT, copies=False, aligns=False, weighted=False),
    "_upsample_nearest_exact2d": Way(EXACT, copies=False, aligns=False, weighted=False, single=True),
    "_upsample_nearest_exact3d": Way(EXACT, copies=False, aligns=False, weighted=False),
    "upsample_linear1d": Way(LINEAR, copies=True, rounds=True),
    "upsample_bilinear2d": Way(LINEAR, copies=True),
    "upsample_trilinear3d": Way(LINEAR, copies=True, rounds=True),
    "upsample_bicubic2d": Way(CUBIC, copies=False, rounds=True),
    "_upsample_bilinear2d_aa": Way(partial(antialiased, width=2, filter=triangle), copies=True),
    "_upsample_bicubic2d_aa": Way(partial(antialiased, width=4, filter=KEYS), copies=True),
    "_upsample_lanczos2d_aa": Way(partial(antialiased, width=6, filter=lanczos), copies=True),
}


def tables(way: Way, sizes: Sequence[int], output: Sequence[int], how: Sequence[Any], elements: Any) -> list[Taps]:
    """A table for each dimension, the last one first; `how` is the operator's other arguments, `elements` a dtype."""
    align_corners, factors = (how[0], how[1:]) if way.aligns else (False, how)
    bytes_ = elements == np.uint8
    wide = (elements == np.float64 and not way.single) or (bytes_ and way.weighted)
    real = np.float64 if wide else np.float32
    kept = elements if way.rounds and not bytes_ else real
    corners = [align_corners] * len(sizes)
    axes = [Axis(*axis, real, kept) for axis in zip(sizes, output, corners, factors, strict=True)]
    copies = way.copies or (bytes_ and way.weighted)
    return [unchanged(axis) if copies and axis.size == axis.output else way.table(axis) for axis in axes[::-1]]


def sampled(array: Array, taps: Taps, dim: int) -> Array:
    """One dimension at another size: the sum of the taps times their weights."""
    shape = [1] * array.ndim
    shape[dim] = -1
    columns = zip(taps.places.T, taps.weights.T, strict=True)
    return sum(np.take(array, places, dim) * weights.reshape(shape) for places, weights in columns)  # type: ignore[no-any-return]


def spread(grad: Array, taps: Taps, size: int, dim: int) -> Array:
    """The derivative of `sampled`: each element's gradient goes to its taps, times their weights."""
    lines = np.moveaxis(grad, dim, 0)
    sums = np.zeros((size, *lines.shape[1:]), grad.dtype)
    for places, weights in zip(taps.places.T, taps.weights.T, strict=True):
        np.add.at(sums, places, lines * weights.reshape(-1, *[1] * (lines.ndim - 1)))
    return np.moveaxis(sums, 0, dim)


def sampled_bytes(array: Array, taps: Taps, dim: int) -> Array:
    """As `sampled` for bytes: weights are whole numbers of as many bits as 16 hold, and each dimension is rounded."""
    taps = joined(taps)
    bits = next(bits for bits in range(23) if bits == 22 or int(0.5 + taps.weights.max() * 2 ** (bits + 1)) >= 2**15)
    scaled = taps.weights * 2**bits
    whole = np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int32)
    sums = sampled(array, Taps(taps.places, whole), dim) + (1 << (bits - 1))
    return np.clip(sums >> bits, 0, 255).astype(np.uint8)  # type: ignore[no-any-return]


def joined(taps: Taps) -> Taps:
    """Taps that are the same element, beyond a border, as one with their weights added up."""
    first = taps.places[:, :, None] == taps.places[:, None, :]  # (output, taps, taps)
    earlier = np.tril(first, -1).any(-1)
    return Taps(taps.places, np.where(earlier, 0, (first * taps.weights[:, None, :]).sum(-1)))


def register(name: str, way: Way) -> None:
    """Register an operator and its backward operator."""
    shape, shape_backward = shape_function(name), shape_function(f"{name}_backward")

    def upsample(keys: int, self: Tensor, output_size: Sequence[int], *how: Any, out: Out = None) -> Tensor:
        result = shape(self, output_size, *how)

        def computed() -> Array:
            found = widened(self.array())
            for i, taps in enumerate(tables(way, self._shape[2:], output_size, how, self.dtype.numpy)):
                if not way.weighted:
                    found = np.take(found, taps.places[:, 0], -1 - i)
                elif found.dtype != np.uint8:
                    found = sampled(found, taps, -1 - i)
                elif self._shape[-1 - i] != output_size[-1 - i]:
                    found = sampled_bytes(found, taps, -1 - i)
            return found

        return finish_as(result, quietly(computed), out)

    def backward(
        keys: int,
        grad_output: Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        *how: Any,
        out: Out = None,
    ) -> Tensor:
        result = shape_backward(grad_output, output_size, input_size, *how)

        def computed() -> Array:
            found = widened(grad_output.array())
            for i, taps in enumerate(tables(way, input_size[2:], output_size, how, found.dtype)):
                found = spread(found, taps, input_size[-1 - i], -1 - i)
            return found

        return finish_as(result, quietly(computed), out)

    add_structured(CPU, name, upsample)
    add_structured(CPU, f"{name}_backward", backward)


for _name, _way in WAYS.items():
    register(_name, _way)
