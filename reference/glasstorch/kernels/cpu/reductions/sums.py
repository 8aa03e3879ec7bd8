"""How are sums, means, extrema, all and any computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp, cpu/SumKernel.cpp (cascade_sum), cpu/ReduceOpsKernel.cpp,
    cpu/TensorCompareKernel.cpp
Differs: NumPy's reductions. See Note [Exact sums].

# Note [Exact sums]
Adding a million float32 numbers one after another loses three digits. NumPy sums small arrays pairwise, in blocks of
128. In a large array contiguous runs are summed in pieces of 1024 numbers, several of them at a time (einsum's loop for
one operand, which is faster and nearly as exact), and the sums of the pieces pairwise. Where a dimension other than the
fastest is reduced, NumPy adds whole rows, one after another; long runs of rows are therefore summed in blocks first.
float16 and bfloat16 are accumulated in float32 and rounded once. Conversions happen piece by piece (for integers in
NumPy's own buffers), so that no converted copy of the whole input is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import (
    BY_NAME,
    COMPLEX_DTYPES,
    FLOAT8,
    FLOATING,
    STORED_ONLY,
    check_implemented,
    dtype,
    float32,
    float64,
    int64,
)
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.blocks import reduce_in_pieces
from glasstorch.kernels.cpu.fast.blocks import strips
from glasstorch.kernels.halves import as_dtype, as_single
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes.reductions import sums as shapes

CPU = KernelTable("CPU")

ROWS_PER_BLOCK = 256  # rows that are added one after another before their sum is added to other sums
PIECE = 1024  # contiguous numbers that are added before their sum is added to other sums
PLAIN_SUM_UP_TO = 1 << 14  # numbers up to which NumPy adds faster than their layout is analysed
NOT_SUMMED_WITHOUT_NAN = frozenset(d for d in BY_NAME.values() if d.category != FLOATING) | FLOAT8
UNORDERED = COMPLEX_DTYPES | STORED_ONLY  # PyTorch has no extrema for these
SUMMED_DIRECTLY = frozenset((float32, float64))
add_reduction: Callable[..., Any] = np.add.reduce


def finish(result: Any, dtype: dtype, out: Tensor | None) -> Tensor:
    """A computed array (or NumPy scalar) as a tensor of a dtype, or written into `out`."""
    if out is not None:
        quietly(np.copyto, out.array(), result, casting="unsafe")
        return out
    return wrap(quietly(as_dtype.run, result, dtype.numpy), dtype)


def is_half(array: Array) -> bool:
    """Whether the elements are float16 or bfloat16, which NumPy processes slowly and less exactly."""
    return array.dtype.itemsize == 2 and array.dtype.kind not in "iu"


def widened(array: Array) -> Array:
    """Half precision upcast to float32; other arrays unchanged."""
    return as_single.run(array) if is_half(array) else array


def finish_pair(
    name: str, values: Any, indices: Any, dtype: dtype, out: tuple[Tensor, Tensor] | None
) -> tuple[Any, ...]:
    """Values and their indices as the results of an operator, or written into `out`; see `finish`."""
    to_values, to_indices = out if out is not None else (None, None)
    return named_result(name, (finish(values, dtype, to_values), finish(indices, int64, to_indices)))


# Sums -----------------------------------------------------------------------------------------------------------


def sum_all(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:  # hot path: benchmarks/operators.py
    """The sum of all elements. Row-major float32 and float64 take a short path; `sum_dims` is the plain twin."""
    if dtype is None and self._strides is None and self.dtype in SUMMED_DIRECTLY:
        result = np.empty((), self.dtype.numpy)
        quietly(add_everything, self.array(), result)
        return wrap(result, self.dtype)
    return sum_dims(keys, self, None, False, dtype)


def sum_dim(
    keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:  # hot path: benchmarks/operators.py
    """The sum over dimensions. Small row-major matrices take a short path; `sum_dims` is the plain twin."""
    if (
        dtype is None
        and out is None
        and dim is not None
        and len(dim) == 1
        and len(self._shape) == 2
        and -2 <= dim[0] < 2
        and self._strides is None
        and self.dtype in SUMMED_DIRECTLY
        and self._shape[0] * self._shape[1] <= PLAIN_SUM_UP_TO
        and self._shape[0] <= ROWS_PER_BLOCK
    ):
        return wrap(quietly(add_reduction, self.array(), dim[0], None, None, keepdim), self.dtype)
    return sum_dims(keys, self, dim, keepdim, dtype, out)


def sum_dims(
    keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:
    """The sum over dimensions, everything checked."""
    result = shapes.sum_dim(self, dim, keepdim, dtype)
    computed = out.dtype if out is not None else result.dtype
    check_implemented("sum_cpu", computed, FLOAT8)
    array = self.array()
    dims = shapes.reduced_dims(dim, array.ndim)
    return finish(quietly(add_as, array, computed, dims, keepdim), computed, out)


def nansum(
    keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:
    """The sum over dimensions with NaN read as 0. A plain sum that is not NaN met none and is the result."""
    result = shapes.nansum(self, dim, keepdim, dtype)
    array = self.array()
    if array.dtype.kind in "biu":
        return sum_dims(keys, self, dim, keepdim, dtype, out)
    computed = out.dtype if out is not None else result.dtype
    whole = computed.category < FLOATING and dtype is not None
    if not whole:
        check_implemented("nansum_cpu", computed, NOT_SUMMED_WITHOUT_NAN)
    dims = shapes.reduced_dims(dim, array.ndim)
    total = None if whole else quietly(add_as, array, computed, dims, keepdim)
    if total is None or np.isnan(total).any():
        total = quietly(add_as, array, computed, dims, keepdim, without_nan)
    return finish(total, computed, out)


def without_nan(block: Array) -> Array:
    """A block with NaN replaced by 0."""
    return np.where(np.isnan(block), block.dtype.type(0), block)


def mean_all(keys: int, self: Tensor, dtype: dtype | None, out: Tensor | None = None) -> Tensor:
    """The mean of all elements; `mean_dim` is the plain twin."""
    if dtype is None and out is None and self._strides is None and self.dtype in SUMMED_DIRECTLY:
        result = np.empty((), self.dtype.numpy)
        quietly(add_everything, self.array(), result)
        quietly(np.true_divide, result, math.prod(self._shape), result)
        return wrap(result, self.dtype)
    return mean_dim(keys, self, None, False, dtype, out)


def mean_dim(
    keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:
    """The mean over dimensions, everything checked."""
    computed = shapes.mean_dim(self, dim, keepdim, dtype).dtype
    check_implemented("sum_cpu", computed, FLOAT8)
    array = self.array()
    dims = shapes.reduced_dims(dim, array.ndim)
    return finish(quietly(mean_as, array, computed, dims, keepdim), computed, out)


def mean_as(array: Array, dtype: dtype, dims: Shape, keepdim: bool) -> Any:
    """The mean over dimensions, computed in a dtype; NaN for no elements."""
    count = math.prod(array.shape[d] for d in dims)
    total = add_as(array, dtype, dims, keepdim)
    return np.true_divide(total, count, dtype=total.dtype)


def add_as(
    array: Array, dtype: dtype, dims: Shape, keepdim: bool, prepare: Callable[[Array], Array] | None = None
) -> Any:
    """The sum over dimensions of an array converted (half precision to float32) and prepared block by block."""
    wide = op_math(dtype).numpy
    if prepare is None:
        if array.dtype == wide == dtype.numpy:
            return add_reduce(array, dims, keepdim)
        if wide.kind in "iu":
            return add_reduction(array, dims, wide, None, keepdim)

    def add_piece(piece: Array, dims: Shape) -> Array:
        converted = (piece if prepare is None else prepare(piece)).astype(dtype.numpy, copy=False)
        terms = as_single.run(converted) if is_half(converted) else converted.astype(wide, copy=False)
        return np.asarray(add_reduce(terms, dims, True))

    return reduce_in_pieces.run(add_piece, add_joined, array, dims, keepdim)


def add_joined(parts: Array, dims: Shape) -> Array:
    """The sum of partial sums."""
    return np.asarray(add_reduce(parts, dims, True))


def add_everything(array: Array, result: Array) -> None:
    """Write the sum of a row-major array into a 0-dim one."""
    if array.size <= PLAIN_SUM_UP_TO:
        add_reduction(array, None, None, result)
    else:
        add_reduction(add_pieces(array.reshape(-1)), None, None, result)


def add_reduce(array: Array, dims: Shape, keepdim: bool) -> Any:
    """The sum over dimensions in the array's own dtype; see Note [Exact sums]."""
    if array.size <= PLAIN_SUM_UP_TO or array.dtype.kind != "f":
        return add_reduction(array, dims, array.dtype, None, keepdim)
    # From here on the dimensions are in memory order, the slowest first.
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    kept = array.transpose(order)
    reduced = tuple(at for at, d in enumerate(order) if d in dims)
    kept = add_runs(kept, reduced)
    for d in reduced:
        if kept.shape[d] > ROWS_PER_BLOCK and math.prod(kept.shape[d + 1 :]) > 1:
            kept = add_blocks(kept, d)
    total = add_reduction(kept, reduced, kept.dtype, None, True).transpose(np.argsort(order))
    return total.reshape(shapes.reduced_shape(array.shape, dims, keepdim))


def add_runs(array: Array, reduced: Shape) -> Array:
    """The array with the contiguous run of its last dimensions summed, with keepdim."""
    first, step = array.ndim, array.itemsize
    while first - 1 in reduced and array.strides[first - 1] == step:
        first -= 1
        step *= array.shape[first]
    if first == array.ndim:
        return array
    sums = add_pieces(array.reshape(*array.shape[:first], -1))
    return sums.reshape(*array.shape[:first], *(1,) * (array.ndim - first - 1), -1)


def add_pieces(runs: Array) -> Array:
    """The array with pieces of PIECE numbers along the last dimension summed; the last piece may be smaller."""
    size = runs.shape[-1]
    if size <= PIECE:
        one: Array = np.einsum("...i->...", runs)[..., None]
        return one
    whole = size // PIECE * PIECE
    sums: Array = np.einsum("...i->...", runs[..., :whole].reshape(*runs.shape[:-1], -1, PIECE))
    return sums if whole == size else np.concatenate([sums, add_pieces(runs[..., whole:])], -1)


def add_blocks(array: Array, d: int) -> Array:
    """The array with each ROWS_PER_BLOCK indices of one dimension summed by BLAS; the last block may be smaller."""
    before, (size, *after) = array.shape[:d], array.shape[d:]
    whole = size // ROWS_PER_BLOCK
    at = (slice(None),) * d
    blocks = array[(*at, slice(whole * ROWS_PER_BLOCK))]
    rows = blocks.reshape(math.prod(before), whole, ROWS_PER_BLOCK, math.prod(after))
    sums: Array = np.matmul(np.ones(ROWS_PER_BLOCK, array.dtype), rows).reshape(*before, whole, *after)
    if whole * ROWS_PER_BLOCK == size:
        return sums
    rest = add_reduction(array[(*at, slice(whole * ROWS_PER_BLOCK, None))], d, array.dtype, None, True)
    return np.concatenate([sums, rest], d)


# Extrema --------------------------------------------------------------------------------------------------------


def register_extremum(name: str, ufunc: np.ufunc, position: Callable[..., Any]) -> None:
    """Register max, max.dim, amax and argmax, or the same for min.

    NumPy's functions propagate NaN and return the first of equal elements, as PyTorch's do.
    """
    shape, shape_dim = shape_function(name), shape_function(f"{name}.dim")
    shape_dims, shape_position = shape_function(f"a{name}"), shape_function(f"arg{name}")
    operator_dim = f"{name}.dim"

    def extremum(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        dtype = shape(self).dtype
        check_implemented(f"{name}_all", dtype, UNORDERED)
        array = self.array()
        return finish(extrema(ufunc, array, tuple(range(array.ndim)), False), dtype, out)

    def extremum_dim(
        keys: int, self: Tensor, dim: int, keepdim: bool, out: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Any, ...]:
        shape_dim(self, dim, keepdim)
        if self._shape:  # a single element is the extremum, of whatever dtype
            check_implemented(f"{name}_cpu", self.dtype, UNORDERED)
        array = self.array()
        axis = wrap_dim(dim, array.ndim) if array.ndim else None
        indices = positions(position, array, axis, keepdim)
        if axis is not None and axis == array.ndim - 1 and array.flags.c_contiguous:  # gather the extrema
            first = np.arange(0, array.size, array.shape[axis]).reshape(indices.shape)
            values = array.reshape(-1).take(first + indices)
        else:
            values = extrema(ufunc, array, () if axis is None else (axis,), keepdim)
        return finish_pair(operator_dim, values, indices, self.dtype, out)

    def extremum_dims(keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, out: Tensor | None = None) -> Tensor:
        shape_dims(self, dim, keepdim)
        check_implemented(f"{name}_values_cpu", self.dtype, UNORDERED)
        array = self.array()
        return finish(extrema(ufunc, array, shapes.reduced_dims(dim, array.ndim), keepdim), self.dtype, out)

    def position_of_extremum(
        keys: int, self: Tensor, dim: int | None, keepdim: bool, out: Tensor | None = None
    ) -> Tensor:
        shape_position(self, dim, keepdim)
        check_implemented(f"arg{name}_cpu", self.dtype, UNORDERED)
        array = self.array()
        axis = wrap_dim(dim, array.ndim) if dim is not None and array.ndim else None
        return finish(positions(position, array, axis, keepdim), int64, out)

    structured(CPU, name, extremum)
    structured(CPU, operator_dim, extremum_dim)
    structured(CPU, f"a{name}", extremum_dims)
    structured(CPU, f"arg{name}", position_of_extremum)


def extrema(ufunc: np.ufunc, array: Array, dims: Shape, keepdim: bool) -> Any:
    """The extrema over dimensions; half precision is compared in float32, which is faster."""
    if not is_half(array):
        return ufunc.reduce(array, dims, keepdims=keepdim)

    def piece(block: Array, dims: Shape) -> Array:
        return joined(as_single.run(block), dims)

    def joined(parts: Array, dims: Shape) -> Array:
        return np.asarray(ufunc.reduce(parts, dims, keepdims=True))

    return reduce_in_pieces.run(piece, joined, array, dims, keepdim)


def positions(position: Callable[..., Any], array: Array, axis: int | None, keepdim: bool) -> Any:
    """The indices of the extrema. NumPy would copy the whole of an array whose axis is not contiguous."""
    wide = np.float32 if is_half(array) else array.dtype
    if axis is None or not array.size or (wide == array.dtype and array.strides[axis] == array.itemsize):
        return position(array.astype(wide, copy=False), axis, keepdims=keepdim)
    indices = np.empty(shapes.reduced_shape(array.shape, (axis,), True), np.int64)
    for strip in strips(array, axis):
        found = position(array[strip].astype(wide, copy=False), axis, keepdims=True)
        indices[tuple(slice(0, 1) if d == axis else cut for d, cut in enumerate(strip))] = found
    return indices if keepdim else indices.squeeze(axis)


def aminmax(
    keys: int, self: Tensor, dim: int | None, keepdim: bool, out: tuple[Tensor, Tensor] | None = None
) -> tuple[Any, ...]:
    """The smallest and the largest element, over one dimension or all; NaN propagates."""
    shapes.aminmax(self, dim, keepdim)
    if dim is None or self._shape:  # a single real element is the extremum, of whatever dtype
        check_implemented("aminmax_cpu", self.dtype, UNORDERED)
    elif self.dtype.is_complex:
        raise DtypeError(f"aminmax not implemented for {self.dtype.scalar_name}")
    array = self.array()
    dims = shapes.reduced_dims(None if dim is None else [dim], array.ndim)
    found = (extrema(ufunc, array, dims, keepdim) for ufunc in (np.minimum, np.maximum))
    given = out if out is not None else (None, None)
    return named_result("aminmax", [finish(one, self.dtype, to) for one, to in zip(found, given, strict=True)])


# all and any ----------------------------------------------------------------------------------------------------


def register_logical(name: str, ufunc: np.ufunc) -> None:
    """Register all, all.dim and all.dims, or the same for any. Nonzero elements are true, NaN included."""
    shape_dims = shape_function(f"{name}.dims")

    def logical_dims(
        keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, out: Tensor | None = None
    ) -> Tensor:
        dtype = shape_dims(self, dim, keepdim).dtype
        array = self.array()
        dims = () if dim is not None and not dim else shapes.reduced_dims(dim, array.ndim)
        return finish(ufunc.reduce(array, dims, keepdims=keepdim), dtype, out)

    def logical_dim(keys: int, self: Tensor, dim: int, keepdim: bool, out: Tensor | None = None) -> Tensor:
        return logical_dims(keys, self, [dim], keepdim, out)

    def logical(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
        return finish(ufunc.reduce(self.array(), None), shapes.truth_dtype(self.dtype), out)

    structured(CPU, name, logical)
    structured(CPU, f"{name}.dim", logical_dim)
    structured(CPU, f"{name}.dims", logical_dims)


structured(CPU, "sum", sum_all)
structured(CPU, "sum.dim_IntList", sum_dim)
structured(CPU, "nansum", nansum)
structured(CPU, "mean", mean_all)
structured(CPU, "mean.dim", mean_dim)
register_extremum("max", np.maximum, np.ndarray.argmax)
register_extremum("min", np.minimum, np.ndarray.argmin)
structured(CPU, "aminmax", aminmax)
register_logical("all", np.logical_and)
register_logical("any", np.logical_or)
