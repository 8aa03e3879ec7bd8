"""How are the averages of windows computed?

Mirrors: aten/src/ATen/native/cpu/AvgPoolKernel.cpp, AdaptiveAvgPoolKernel.cpp
Differs: sums are float64 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.pooling.places import Along, adaptive, each_place, planes_of, rows_of, sliding
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, add_structured, finish_as, shape_function
from glasstorch.operators.shapes.pooling.sliding import average_windows

CPU = KernelTable("CPU")
Ints = Sequence[int]


def divisors(tables: Sequence[Along], count_include_pad: bool, divisor: int | None) -> Any:
    """What the sum of each window is divided by: how many elements it has, or a number for all of them."""
    if divisor is not None:
        return divisor
    return sum((counted if count_include_pad else inside).astype(np.int64) for _, inside, counted in each_place(tables))


@slot
def averages(array: Array, tables: Sequence[Along], count_include_pad: bool, divisor: int | None) -> Array:
    """The average of each window. Those of integers are rounded towards zero."""
    dims = len(tables)
    wide = array.dtype if array.dtype.kind in "iu" else np.dtype(np.float64)
    planes = planes_of(array, dims).astype(wide)
    rows = rows_of(planes, dims)
    zero = wide.type(0)
    total: Any = sum(np.where(inside, planes[rows, at], zero) for at, inside, _ in each_place(tables))
    count = divisors(tables, count_include_pad, divisor)
    shape = (*array.shape[:-dims], *total.shape[1:])
    return (np.trunc(total / count) if wide.kind in "iu" else total / count).reshape(shape)  # type: ignore[no-any-return]


@slot
def shared(
    grad: Array, tables: Sequence[Along], shape: tuple[int, ...], count_include_pad: bool, divisor: int | None
) -> Array:
    """The gradient of each element of the input: its share of the gradients of the windows that it is in."""
    dims = len(tables)
    planes = np.zeros(shape, np.float64)
    flat = planes_of(planes, dims)
    rows = rows_of(flat, dims) * flat.shape[1]
    share = grad.astype(np.float64).reshape(-1, *grad.shape[-dims:]) / divisors(tables, count_include_pad, divisor)
    for at, inside, _ in each_place(tables):
        places = np.broadcast_to(rows + at, share.shape)
        flat += np.bincount(places.ravel(), np.where(inside, share, 0.0).ravel(), flat.size).reshape(flat.shape)
    return planes


# Kernels --------------------------------------------------------------------------------------------------------


def register_sliding(dims: int) -> None:
    """Register avg_pool2d or avg_pool3d, and its backward kernel."""
    name = f"avg_pool{dims}d"
    shape, shape_backward = shape_function(name), shape_function(f"{name}_backward")

    def tables_of(
        self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, divisor: int | None
    ) -> list[Along]:
        return [sliding(w) for w in average_windows(self, dims, kernel_size, stride, padding, ceil_mode, divisor)]

    def avg_pool(
        keys: int,
        self: Tensor,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
        out: Out = None,
    ) -> Tensor:
        windows = (kernel_size, stride, padding, ceil_mode)
        result = shape(self, *windows, count_include_pad, divisor_override)
        tables = tables_of(self, *windows, divisor_override)
        found = quietly(averages.run, self.array(), tables, count_include_pad, divisor_override)
        return finish_as(result, found, out)

    def backward(
        keys: int,
        grad_output: Tensor,
        self: Tensor,
        kernel_size: Ints,
        stride: Ints,
        padding: Ints,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
        out: Out = None,
    ) -> Tensor:
        windows = (kernel_size, stride, padding, ceil_mode)
        result = shape_backward(grad_output, self, *windows, count_include_pad, divisor_override)
        tables = tables_of(self, *windows, divisor_override)
        found = quietly(shared.run, grad_output.array(), tables, self._shape, count_include_pad, divisor_override)
        return finish_as(result, found, out)

    add_structured(CPU, name, avg_pool)
    add_structured(CPU, f"{name}_backward", backward)


def register_adaptive(dims: int) -> None:
    """Register _adaptive_avg_pool2d or _adaptive_avg_pool3d, and its backward kernel."""
    name = f"_adaptive_avg_pool{dims}d"
    shape, shape_backward = shape_function(name), shape_function(f"{name}_backward")

    def avg_pool(keys: int, self: Tensor, output_size: Ints, out: Out = None) -> Tensor:
        result = shape(self, output_size)
        tables = [adaptive(size, count) for size, count in zip(self._shape[-dims:], output_size, strict=True)]
        return finish_as(result, quietly(averages.run, self.array(), tables, False, None), out)

    def backward(keys: int, grad_output: Tensor, self: Tensor, out: Out = None) -> Tensor:
        result = shape_backward(grad_output, self)
        sizes = zip(self._shape[-dims:], grad_output._shape[-dims:], strict=True)
        tables = [adaptive(size, count) for size, count in sizes]
        return finish_as(result, quietly(shared.run, grad_output.array(), tables, self._shape, False, None), out)

    add_structured(CPU, name, avg_pool)
    add_structured(CPU, f"{name}_backward", backward)


for _dims in (2, 3):
    register_sliding(_dims)
    register_adaptive(_dims)
