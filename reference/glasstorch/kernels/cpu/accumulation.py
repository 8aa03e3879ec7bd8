"""How is a place that is named more than once added to, multiplied or compared, in the order of its names?

Mirrors: aten/src/ATen/native/cpu/ScatterGatherKernel.cpp (reduce_add, reduce_multiply, reduce_maximum, reduce_minimum,
    create_acc_buffer), aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_add_cpu_, index_reduce_func_impl)
Differs: NumPy's `ufunc.at` and loops over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.quiet import quietly

WIDE = 24  # elements of a row from which one call of NumPy for each row costs less than `ufunc.at` for its elements
HALF = 2  # bytes of a number of half precision


def reduce_at(ufunc: np.ufunc, flat: Array, places: Array, values: Any) -> None:
    """`flat[place] = ufunc(flat[place], value)` for one place after the other."""
    quietly(ufunc.at, flat, places, values)


def reduce_at_wide(ufunc: np.ufunc, flat: Array, places: Array, values: Any) -> None:
    """As `reduce_at`; half precision is widened to float32 and rounded once, when all is done."""
    if flat.dtype.itemsize == HALF and flat.dtype.kind not in "iub":
        buffer = flat.astype(np.float32)
        reduce_at(ufunc, buffer, places, np.asarray(values, np.float32))
        flat[...] = quietly(buffer.astype, flat.dtype)
    else:
        reduce_at(ufunc, flat, places, values)


def reduce_rows(ufunc: np.ufunc, rows: Array, chosen: Array, values: Array) -> None:
    """`rows[i] = ufunc(rows[i], values[n])` for each index i, the n-th, in order; the indices are in range."""
    if not values.size:
        return
    if rows[0].size < WIDE:
        quietly(ufunc.at, rows, chosen, values)
    elif int(np.bincount(chosen).max()) == 1:
        rows[chosen] = quietly(ufunc, rows[chosen], values)
    else:
        quietly(_row_by_row, ufunc, rows, chosen.tolist(), values)


def _row_by_row(ufunc: np.ufunc, rows: Array, chosen: list[int], values: Array) -> None:
    for i, value in zip(chosen, values, strict=True):
        row = rows[i]
        ufunc(row, value, out=row)
