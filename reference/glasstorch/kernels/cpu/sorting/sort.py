"""How are elements sorted on the CPU?

Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp (sort_stable_kernel), aten/src/ATen/native/NumericUtils.h (_isnan)
Differs: NumPy sorts the indices. Every sort is stable, even with stable=False; NaN counts as larger than everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOAT8
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish_pair, structured
from glasstorch.operators.shapes.sorting import sort as shapes

CPU = KernelTable("CPU")


@slot
def sorted_indices(rows: Array, descending: bool) -> Array:
    """The indices that sort each row; equal elements keep their order, also when descending."""
    rows = widened(rows)
    if not descending:
        return quietly(np.argsort, rows, -1, "stable")
    backwards = quietly(np.argsort, np.flip(rows, -1), -1, "stable")
    return np.asarray(rows.shape[-1] - 1 - np.flip(backwards, -1))


@slot
def picked(rows: Array, indices: Array) -> Array:
    """The elements of each row at indices."""
    return np.take_along_axis(rows, indices, -1)


@slot
def picked_along(array: Array, axis: int, indices_of: Callable[[Array], Array]) -> tuple[Array, Array]:
    """The elements of lines along an axis at the indices that a function returns for rows, and the indices."""
    rows = np.moveaxis(array, axis, -1)
    indices = indices_of(rows)
    return np.moveaxis(picked.run(rows, indices), -1, axis), np.moveaxis(indices, -1, axis)


@structured(CPU, "sort.stable")
def sort(
    keys: int, self: Tensor, stable: bool | None, dim: int, descending: bool, out: tuple[Tensor, Tensor] | None = None
) -> tuple[Any, ...]:
    """The kernel of `sort.stable`."""
    results = shapes.sort(self, stable, dim, descending)
    if self._shape and self.dtype in FLOAT8:
        raise not_implemented_for("sorting_kernel_method_name", self.dtype)
    array = np.atleast_1d(self.array())
    found = picked_along.run(array, wrap_dim(dim, array.ndim), lambda rows: sorted_indices.run(rows, descending))
    values, indices = (one.reshape(self._shape) for one in found)
    if out is None and results[0].strides is not None:
        out = allocate_output(results[0]), allocate_output(results[1])
    return finish_pair("sort.stable", values, indices, self.dtype, out)
