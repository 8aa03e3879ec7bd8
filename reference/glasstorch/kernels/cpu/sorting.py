"""How are elements sorted and looked up in order on the CPU?

Mirrors: aten/src/ATen/native/cpu/SortingKernel.cpp (sort_stable_kernel), aten/src/ATen/native/Bucketization.cpp,
    aten/src/ATen/native/TensorCompare.cpp (isin_sorting, isin_default_cpu)
Differs: NumPy sorts. Every sort is stable, also where nobody asked for that; NaN counts as larger than everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import FLOAT8, HALF_PRECISION, Number, bool_, dtype, float32, int64
from glasstorch.core.errors import DtypeNotImplementedError, IndexValueError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.ordering import picked, sorted_places
from glasstorch.kernels.cpu.pointwise import ALL, EVERY, NOT_BOOL
from glasstorch.kernels.cpu.reductions import finish
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import sorting as shapes
from glasstorch.operators.shapes.promotion import result_type

CPU = KernelTable("CPU")


def sort(
    keys: int,
    self: Tensor,
    stable: bool | None,
    dim: int,
    descending: bool,
    out: tuple[Tensor, Tensor] | None = None,
) -> tuple[Any, ...]:
    """The kernel of `sort.stable`."""
    results = shapes.sort(self, stable, dim, descending)
    array = self.array()
    if array.ndim and self.dtype in FLOAT8:
        raise DtypeNotImplementedError(f"\"sorting_kernel_method_name\" not implemented for '{self.dtype.scalar_name}'")
    if not array.ndim:
        values, places = array.copy(), np.array(0)
    else:
        axis = wrap_dim(dim, array.ndim)
        rows = np.ascontiguousarray(np.moveaxis(array, axis, -1))
        order = sorted_places(rows, descending)
        values, places = np.moveaxis(picked(rows, order), -1, axis), np.moveaxis(order, -1, axis)
    if out is None and results[0].strides is None:
        return named_result("sort.stable", (finish(values, self.dtype, None), finish(places, int64, None)))
    written = out if out is not None else tuple(map(allocate_output, results))
    for tensor, computed in zip(written, (values, places), strict=True):
        tensor.array()[...] = computed
    return named_result("sort.stable", written)


# searchsorted ---------------------------------------------------------------------------------------------------


def searchsorted(
    keys: int,
    sorted_sequence: Tensor,
    self: Tensor,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
    out: Tensor | None = None,
) -> Tensor:
    """The kernel of `searchsorted.Tensor`: every row of the values in the row of the sequence beside it."""
    result = shapes.searchsorted(sorted_sequence, self, out_int32, right, side, sorter)
    common = result_type(sorted_sequence, self)
    if common not in NOT_BOOL:
        raise DtypeNotImplementedError(f"\"searchsorted_out_cpu\" not implemented for '{common.scalar_name}'")
    sequence, values = (in_order(tensor, common) for tensor in (sorted_sequence, self))
    if sorter is not None:
        places = sorter.array()
        if places.size and not ((places >= 0) & (places < sequence.shape[-1])).all():
            raise IndexValueError("torch.searchsorted(): sorter index out of range")
        sequence = np.take_along_axis(sequence, places, -1)
    where = "right" if shapes.to_the_right(right, side) else "left"
    if sequence.ndim == 1:
        return finish(quietly(np.searchsorted, sequence, values, where), result.dtype, out)
    found = np.empty(values.shape, np.int64)
    for row in np.ndindex(*sequence.shape[:-1]):
        found[row] = quietly(np.searchsorted, sequence[row], values[row], where)
    return finish(found, result.dtype, out)


def searchsorted_scalar(
    keys: int,
    sorted_sequence: Tensor,
    self: Number,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
    out: Tensor | None = None,
) -> Tensor:
    """The kernel of `searchsorted.Scalar`."""
    shapes.searchsorted_scalar(sorted_sequence, self, out_int32, right, side, sorter)
    return searchsorted(keys, sorted_sequence, wrapped_number(self), out_int32, right, side, sorter, out)


def in_order(tensor: Tensor, common: dtype) -> Array:
    """A tensor's array in a dtype that NumPy can order."""
    array: Array = quietly(tensor.array().astype, (float32 if common in HALF_PRECISION else common).numpy)
    return array


# isin -----------------------------------------------------------------------------------------------------------


def isin(
    keys: int,
    elements: Tensor,
    test_elements: Tensor,
    assume_unique: bool,
    invert: bool,
    out: Tensor | None = None,
) -> Tensor:
    """The kernel of `isin.Tensor_Tensor`."""
    shapes.isin(elements, test_elements, False, False)
    return _isin(elements, test_elements, invert, ALL, out)


def isin_number(
    keys: int, elements: Tensor, test_element: Number, assume_unique: bool, invert: bool, out: Tensor | None = None
) -> Tensor:
    """The kernel of `isin.Tensor_Scalar`."""
    shapes.isin_number(elements, test_element, False, False)
    return _isin(elements, wrapped_number(test_element), invert, EVERY, out)


def number_isin(
    keys: int, element: Number, test_elements: Tensor, assume_unique: bool, invert: bool, out: Tensor | None = None
) -> Tensor:
    """The kernel of `isin.Scalar_Tensor`."""
    shapes.number_isin(element, test_elements, False, False)
    return _isin(wrapped_number(element), test_elements, invert, ALL, out)


def _isin(
    elements: Tensor, test_elements: Tensor, invert: bool, accepts: frozenset[dtype], out: Tensor | None
) -> Tensor:
    """Compared in the common dtype: one of those accepted. To look for one number is a comparison, which all have."""
    common = result_type(elements, test_elements)
    if common not in accepts and 0 not in elements._shape:
        raise DtypeNotImplementedError(f"\"isin_default_cpu\" not implemented for '{common.scalar_name}'")
    found = np.isin(in_order(elements, common), in_order(test_elements, common), invert=invert)
    return finish(found, bool_, out)


structured(CPU, "sort.stable", sort)
structured(CPU, "searchsorted.Tensor", searchsorted)
structured(CPU, "searchsorted.Scalar", searchsorted_scalar)
structured(CPU, "isin.Tensor_Tensor", isin)
structured(CPU, "isin.Tensor_Scalar", isin_number)
structured(CPU, "isin.Scalar_Tensor", number_isin)
