"""How are elements sorted on the CPU?

Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp (sort_stable_kernel)
Differs: NumPy sorts. Every sort is stable, even with stable=False; NaN counts as larger than everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOAT8, int64
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import finish
from glasstorch.kernels.cpu.sorting.ordering import picked_along, sorted_indices
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.sorting import sort as shapes

CPU = KernelTable("CPU")


def sort(
    keys: int,
    self: Tensor,
    stable: bool | None,
    dim: int,
    descending: bool,
    out: tuple[Tensor, Tensor] | None = None,
) -> tuple[Any, ...]:
    """The kernel of `sort.stable`: see Note [Sorting values with their indices]."""
    results = shapes.sort(self, stable, dim, descending)
    array = self.array()
    if array.ndim and self.dtype in FLOAT8:
        raise not_implemented_for("sorting_kernel_method_name", self.dtype)
    axis = wrap_dim(dim, array.ndim) if array.ndim else 0
    array = np.atleast_1d(array)

    def indices_of(rows: Array) -> Array:
        return sorted_indices(rows, descending)

    if out is None and results[0].strides is None:
        found = picked_along(array, axis, array.shape[axis], indices_of)
        shape = results[0].shape
        values, indices = (one.reshape(shape) for one in found)
        return named_result("sort.stable", (finish(values, self.dtype, None), finish(indices, int64, None)))
    written = out if out is not None else tuple(map(allocate_output, results))
    values, indices = (np.atleast_1d(tensor.array()) for tensor in written)
    picked_along(array, axis, array.shape[axis], indices_of, (values, indices))
    return named_result("sort.stable", written)


structured(CPU, "sort.stable", sort)
