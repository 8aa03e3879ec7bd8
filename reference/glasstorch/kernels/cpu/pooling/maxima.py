"""How are the largest elements of windows found?

Mirrors: aten/src/ATen/native/cpu/MaxPoolKernel.cpp, AdaptiveMaxPoolKernel.cpp, aten/src/ATen/native/
    FractionalMaxPool2d.cpp, FractionalMaxPool3d.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.pooling.places import (
    Along,
    adaptive,
    each_place,
    first_places,
    fractional,
    planes_of,
    rows_of,
    sliding,
)
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, add_structured, finish_as, shape_function
from glasstorch.operators.shapes.pooling.sliding import max_windows
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")
Ints = Sequence[int]


@slot
def largest(array: Array, tables: Sequence[Along]) -> tuple[Array, Array]:
    """The largest element of each window, and its place in its plane: the first of equal ones, the last NaN."""
    dims = len(tables)
    planes = planes_of(widened(array), dims)
    rows = rows_of(planes, dims)
    indices = np.broadcast_to(begins := first_places(tables), (len(planes), *begins.shape[1:]))
    best = np.full(indices.shape, lowest(planes.dtype))
    for at, inside, _ in each_place(tables):
        values = planes[rows, at]
        better = inside & ((values > best) | (values != values))
        best, indices = np.where(better, values, best), np.where(better, at, indices)
    shape = (*array.shape[:-dims], *best.shape[1:])
    return best.reshape(shape), indices.reshape(shape)


def lowest(dtype: np.dtype[Any]) -> Any:
    """What is no larger than any element: the maximum of a window that lies in the padding."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return dtype.type(-np.inf)


@slot
def spread(grad: Array, indices: Array, shape: tuple[int, ...], dims: int) -> Array:
    """The sum of the gradients at each element of the input: `indices` say which element each window took."""
    size = prod(shape[-dims:])
    places = planes_of(indices, dims)
    places = places + size * np.arange(len(places))[:, None]
    return np.bincount(places.ravel(), grad.ravel().astype(np.float64), prod(shape)).reshape(shape)


# Kernels --------------------------------------------------------------------------------------------------------


def finished(found: tuple[Array, Array], results: tuple[Result, Result], out: Outs) -> tuple[Tensor, Tensor]:
    """The maxima and their places as tensors, or written into `out`."""
    first, second = out or (None, None)
    return finish_as(results[0], found[0], first), finish_as(results[1], found[1], second)


def register_sliding(dims: int) -> None:
    """Register max_pool2d_with_indices or max_pool3d_with_indices."""
    name = f"max_pool{dims}d_with_indices"
    shape = shape_function(name)

    def max_pool(
        keys: int,
        self: Tensor,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        dilation: Ints,
        ceil_mode: bool,
        out: Outs = None,
    ) -> tuple[Tensor, Tensor]:
        results = shape(self, kernel_size, stride, padding, dilation, ceil_mode)
        windows = max_windows(self, dims, kernel_size, stride, padding, dilation, ceil_mode)
        return finished(quietly(largest.run, self.array(), [sliding(w) for w in windows]), results, out)

    add_structured(CPU, name, max_pool)


def register_adaptive(dims: int) -> None:
    """Register adaptive_max_pool2d or adaptive_max_pool3d."""
    name = f"adaptive_max_pool{dims}d"
    shape = shape_function(name)

    def max_pool(keys: int, self: Tensor, output_size: Ints, out: Outs = None) -> tuple[Tensor, Tensor]:
        results = shape(self, output_size)
        tables = [adaptive(size, count) for size, count in zip(self._shape[-dims:], output_size, strict=True)]
        return finished(quietly(largest.run, self.array(), tables), results, out)

    add_structured(CPU, name, max_pool)


def register_fractional(dims: int) -> None:
    """Register fractional_max_pool2d or fractional_max_pool3d.

    The random numbers of a plane are those of its last dimension first.
    """
    name = f"fractional_max_pool{dims}d"
    shape = shape_function(name)

    def max_pool(
        keys: int, self: Tensor, kernel_size: Ints, output_size: Ints, random_samples: Tensor, out: Outs = None
    ) -> tuple[Tensor, Tensor]:
        results = shape(self, kernel_size, output_size, random_samples)
        planes = prod(self._shape[:-dims])
        samples = widened(random_samples.array()).reshape(-1, dims)[:planes]
        order = (1, 0) if dims == 2 else (0, 1, 2)
        tables = [
            fractional(size, count, kernel, samples[:, which])
            for size, count, kernel, which in zip(self._shape[-dims:], output_size, kernel_size, order, strict=True)
        ]
        return finished(quietly(largest.run, self.array(), tables), results, out)

    add_structured(CPU, name, max_pool)


def register_gradient(name: str, dims: int) -> None:
    """Register the backward kernel of an operator whose second result says which elements it took."""
    shape = shape_function(name)

    def backward(keys: int, grad_output: Tensor, self: Tensor, *rest: Any, out: Out = None) -> Tensor:
        result = shape(grad_output, self, *rest)
        return finish_as(result, quietly(spread.run, grad_output.array(), rest[-1].array(), self._shape, dims), out)

    add_structured(CPU, name, backward)


for _dims in (2, 3):
    register_sliding(_dims)
    register_adaptive(_dims)
    register_fractional(_dims)
    for _name in (f"max_pool{_dims}d_with_indices", f"adaptive_max_pool{_dims}d", f"fractional_max_pool{_dims}d"):
        register_gradient(f"{_name}_backward", _dims)
