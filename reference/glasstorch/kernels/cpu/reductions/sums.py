"""How are sums, means, extrema, all and any computed on the CPU?

float32 is added up in float64 and half precision in float32, and the sum is rounded once. float64 is added up by NumPy:
pairwise along contiguous numbers, and row after row along other dimensions.

Mirrors: aten/src/ATen/native/ReduceOps.cpp, cpu/SumKernel.cpp (cascade_sum), cpu/ReduceOpsKernel.cpp,
    cpu/TensorCompareKernel.cpp
Differs: PyTorch adds float32 in float32, in cascades.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BY_NAME, COMPLEX_DTYPES, FLOAT8, STORED_ONLY, check_implemented, dtype, int64
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, finish, finish_pair, shape_function, structured
from glasstorch.operators.shapes.reductions import sums as shapes
from glasstorch.operators.shapes.reductions.sums import Dims

CPU = KernelTable("CPU")

NOT_SUMMED_WITHOUT_NAN = frozenset(d for d in BY_NAME.values() if not d.is_floating_point) | FLOAT8
UNORDERED = COMPLEX_DTYPES | STORED_ONLY  # PyTorch has no extrema for these
# The dtype in which another is added up or multiplied, by NumPy's character; "E" is bfloat16's
ACCUMULATED_IN: Final = {"e": np.float32, "E": np.float32, "f": np.float64, "F": np.complex128}
add_reduction: Callable[..., Any] = np.add.reduce

# Sums -----------------------------------------------------------------------------------------------------------


@slot
def added(array: Array, dtype: dtype, dims: Shape, keepdim: bool) -> Any:
    """The sum over dimensions of an array converted to a dtype, added up in a wider one: ACCUMULATED_IN."""
    terms = array.astype(dtype.numpy, copy=False)
    return add_reduction(terms, dims, ACCUMULATED_IN.get(terms.dtype.char, terms.dtype), None, keepdim)


@slot
def added_without_nan(array: Array, dtype: dtype, dims: Shape, keepdim: bool) -> Any:
    """As `added`, with NaN read as 0."""
    return added.run(np.where(np.isnan(array), array.dtype.type(0), array), dtype, dims, keepdim)


@structured(CPU, "sum")
def sum_all(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """The sum of all elements."""
    return sum_dims(keys, self, None, False, dtype)


@structured(CPU, "sum.dim_IntList")
def sum_dims(keys: int, self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None, out: Out = None) -> Tensor:
    """The sum over dimensions."""
    result = shapes.sum_dim(self, dim, keepdim, dtype)
    computed = out.dtype if out is not None else result.dtype
    check_implemented("sum_cpu", computed, FLOAT8)
    array = self.array()
    return finish(quietly(added.run, array, computed, shapes.reduced_dims(dim, array.ndim), keepdim), computed, out)


@structured(CPU, "nansum")
def nansum(keys: int, self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None, out: Out = None) -> Tensor:
    """The sum over dimensions with NaN read as 0."""
    result = shapes.nansum(self, dim, keepdim, dtype)
    array = self.array()
    if array.dtype.kind in "biu":
        return sum_dims(keys, self, dim, keepdim, dtype, out)
    computed = out.dtype if out is not None else result.dtype
    if computed.is_floating_point or computed.is_complex or dtype is None:
        check_implemented("nansum_cpu", computed, NOT_SUMMED_WITHOUT_NAN)
    dims = shapes.reduced_dims(dim, array.ndim)
    return finish(quietly(added_without_nan.run, array, computed, dims, keepdim), computed, out)


@structured(CPU, "mean")
def mean_all(keys: int, self: Tensor, dtype: dtype | None, out: Out = None) -> Tensor:
    """The mean of all elements."""
    return mean_dim(keys, self, None, False, dtype, out)


@structured(CPU, "mean.dim")
def mean_dim(keys: int, self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None, out: Out = None) -> Tensor:
    """The mean over dimensions."""
    computed = shapes.mean_dim(self, dim, keepdim, dtype).dtype
    check_implemented("sum_cpu", computed, FLOAT8)
    array = self.array()
    return finish(quietly(mean_as, array, computed, shapes.reduced_dims(dim, array.ndim), keepdim), computed, out)


def mean_as(array: Array, dtype: dtype, dims: Shape, keepdim: bool) -> Any:
    """The sum of an array converted to a dtype, divided before it is rounded; NaN for no elements."""
    total = added.run(array, dtype, dims, keepdim)
    return np.true_divide(total, math.prod(array.shape[d] for d in dims), dtype=total.dtype)


# Extrema --------------------------------------------------------------------------------------------------------


@slot
def extrema(ufunc: np.ufunc, array: Array, dims: Shape, keepdim: bool) -> Any:
    """The extrema over dimensions; half precision is compared in float32."""
    return ufunc.reduce(widened(array), dims, keepdims=keepdim)


@slot
def positions(position: Callable[..., Any], array: Array, axis: int | None, keepdim: bool) -> Any:
    """The indices of the extrema along an axis, or of the extremum of all elements."""
    return position(widened(array), axis, keepdims=keepdim)


@slot
def at_positions(array: Array, indices: Array, axis: int) -> Array:
    """The elements at indices along an axis, one for each line; the indices have size 1 there."""
    return np.take_along_axis(array, indices, axis)


def register_extremum(name: str, ufunc: np.ufunc, position: Callable[..., Any]) -> None:
    """Register max, max.dim, amax and argmax, or the same for min.

    NumPy's functions propagate NaN and return the first of equal elements, as PyTorch's do.
    """
    shape, shape_dim = shape_function(name), shape_function(f"{name}.dim")
    shape_dims, shape_position = shape_function(f"a{name}"), shape_function(f"arg{name}")
    operator_dim = f"{name}.dim"

    @structured(CPU, name)
    def extremum(keys: int, self: Tensor, out: Out = None) -> Tensor:
        check_implemented(f"{name}_all", shape(self).dtype, UNORDERED)
        return finish(extrema.run(ufunc, self.array(), tuple(range(len(self._shape))), False), self.dtype, out)

    @structured(CPU, operator_dim)
    def extremum_dim(keys: int, self: Tensor, dim: int, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
        shape_dim(self, dim, keepdim)
        if self._shape:  # a single element is the extremum, of whatever dtype
            check_implemented(f"{name}_cpu", self.dtype, UNORDERED)
        array: Any = self.array()
        if not array.ndim:
            return finish_pair(operator_dim, array.copy(), np.zeros((), np.int64), self.dtype, out)
        axis = wrap_dim(dim, array.ndim)
        indices = positions.run(position, array, axis, True)
        values = at_positions.run(array, indices, axis)
        if not keepdim:
            values, indices = values.squeeze(axis), indices.squeeze(axis)
        return finish_pair(operator_dim, values, indices, self.dtype, out)

    @structured(CPU, f"a{name}")
    def extremum_dims(keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, out: Out = None) -> Tensor:
        shape_dims(self, dim, keepdim)
        check_implemented(f"{name}_values_cpu", self.dtype, UNORDERED)
        array = self.array()
        return finish(extrema.run(ufunc, array, shapes.reduced_dims(dim, array.ndim), keepdim), self.dtype, out)

    @structured(CPU, f"arg{name}")
    def position_of_extremum(keys: int, self: Tensor, dim: int | None, keepdim: bool, out: Out = None) -> Tensor:
        shape_position(self, dim, keepdim)
        check_implemented(f"arg{name}_cpu", self.dtype, UNORDERED)
        array = self.array()
        axis = wrap_dim(dim, array.ndim) if dim is not None and array.ndim else None
        return finish(positions.run(position, array, axis, keepdim), int64, out)


@structured(CPU, "aminmax")
def aminmax(keys: int, self: Tensor, dim: int | None, keepdim: bool, out: Outs = None) -> tuple[Any, ...]:
    """The smallest and the largest element, over one dimension or all; NaN propagates."""
    shapes.aminmax(self, dim, keepdim)
    if dim is None or self._shape:  # a single real element is the extremum, of whatever dtype
        check_implemented("aminmax_cpu", self.dtype, UNORDERED)
    elif self.dtype.is_complex:
        raise DtypeError(f"aminmax not implemented for {self.dtype.scalar_name}")
    array = self.array()
    dims = shapes.reduced_dims(None if dim is None else [dim], array.ndim)
    least, greatest = (extrema.run(ufunc, array, dims, keepdim) for ufunc in (np.minimum, np.maximum))
    return finish_pair("aminmax", least, greatest, self.dtype, out, self.dtype)


# all and any ----------------------------------------------------------------------------------------------------


def register_logical(name: str, ufunc: np.ufunc) -> None:
    """Register all, all.dim and all.dims, or the same for any. Nonzero elements are true, NaN included."""
    shape_dims = shape_function(f"{name}.dims")

    @structured(CPU, f"{name}.dims")
    def logical_dims(keys: int, self: Tensor, dim: Dims, keepdim: bool, out: Out = None) -> Tensor:
        dtype = shape_dims(self, dim, keepdim).dtype
        array = self.array()
        dims = () if dim is not None and not dim else shapes.reduced_dims(dim, array.ndim)
        return finish(ufunc.reduce(array, dims, keepdims=keepdim), dtype, out)

    @structured(CPU, f"{name}.dim")
    def logical_dim(keys: int, self: Tensor, dim: int, keepdim: bool, out: Out = None) -> Tensor:
        return logical_dims(keys, self, [dim], keepdim, out)

    @structured(CPU, name)
    def logical(keys: int, self: Tensor, out: Out = None) -> Tensor:
        return finish(ufunc.reduce(self.array(), None), shapes.truth_dtype(self.dtype), out)


register_extremum("max", np.maximum, np.ndarray.argmax)
register_extremum("min", np.minimum, np.ndarray.argmin)
register_logical("all", np.logical_and)
register_logical("any", np.logical_or)
