"""How are large sums, extrema, products and variances computed fast?

Mirrors: aten/src/ATen/native/cpu/SumKernel.cpp (cascade_sum), cpu/Reduce.h, cpu/ReduceOpsKernel.cpp

# Note [Sums in pieces]
float32 is added up in float32, in an order that loses few digits. NumPy sums small arrays pairwise, in blocks of 128.
In a large array contiguous runs are summed in pieces of 1024 numbers, several of them at a time (einsum's loop for one
operand, which is faster and nearly as exact), and the sums of the pieces pairwise. Where a dimension other than the
fastest is reduced, NumPy adds whole rows, one after another; long runs of rows are therefore summed in blocks first.
Conversions happen piece by piece (for integers in NumPy's own buffers), so that no converted copy of the whole input is
made.

The bounds are in units in the last place of the sum of absolute values, and hold for random numbers, also of one sign.
They do not hold for long columns of equal numbers, whose roundings all go the same way: in an array of at most 16,384
numbers, NumPy adds any number of rows one after another, and 8,192 rows of two numbers 0.1 are off by 542 units. So is
the sum of 200,000 rows of three numbers 0.1, by 66 units.

# Note [Moments in blocks]
A variance is computed in float64, in blocks that fit into the processor's cache: first the block's mean, then the sum
of squared deviations from it. The sums of two blocks are combined by adding the weighted squared difference of their
means (Chan, Golub and LeVeque, 1983). No temporary of the input's size is allocated.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import reduce_in_pieces, strips
from glasstorch.kernels.cpu.reductions import moments, sums
from glasstorch.kernels.cpu.reductions.moments import parts, xor_reduction
from glasstorch.kernels.cpu.reductions.sums import add_reduction, mean_dim, sum_dims
from glasstorch.kernels.halves import as_single, is_half
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.reductions import sums as shapes

multiply_reduction: Callable[..., Any] = np.multiply.reduce

# Short paths ----------------------------------------------------------------------------------------------------


@functools.cache
def ones(number: int, dtype: np.dtype[Any]) -> Array:
    """What BLAS multiplies a matrix of few rows by to add them: SUMMED_ROWS numbers at most, which are only read."""
    return np.ones(number, dtype)


@fast("sum", when="row-major float32 or float64", benchmark="`x.sum()`, 8 floats", exact=8.0)
def sum_all(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:  # hot path: benchmarks/operators.py
    """The sum of all elements."""
    if dtype is None and self._strides is None and self.dtype in DIRECT_FLOATS:
        result = np.empty((), self.dtype.numpy)
        quietly(add_everything, self.array(), result)
        return wrap(result, self.dtype)
    return sum_dims(keys, self, None, False, dtype)


@fast("sum.dim_IntList", when="small row-major matrices", benchmark="`x.sum(0)`, 64x128", exact=32.0)
def sum_dim(
    keys: int, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:  # hot path: benchmarks/operators.py
    """The sum over dimensions."""
    if (
        dtype is None
        and out is None
        and dim is not None
        and len(dim) == 1
        and len(self._shape) == 2
        and -2 <= dim[0] < 2
        and self._strides is None
        and self.dtype in DIRECT_FLOATS
        and self._shape[0] * self._shape[1] <= thresholds.SUMMED_AT_ONCE_UP_TO
        and self._shape[0] <= thresholds.SUMMED_ROWS
    ):
        array = self.array()
        if dim[0] in (1, -1):
            return wrap(quietly(add_reduction, array, 1, None, None, keepdim), self.dtype)
        total = quietly(ones(len(array), array.dtype).dot, array)
        return wrap(total[None] if keepdim else total, self.dtype)
    return sum_dims(keys, self, dim, keepdim, dtype, out)


@fast("mean", when="row-major float32 or float64", benchmark="1e6: mean of rows", exact=8.0)
def mean_all(keys: int, self: Tensor, dtype: dtype | None, out: Tensor | None = None) -> Tensor:
    """The mean of all elements."""
    if dtype is None and out is None and self._strides is None and self.dtype in DIRECT_FLOATS:
        result = np.empty((), self.dtype.numpy)
        quietly(add_everything, self.array(), result)
        quietly(np.true_divide, result, math.prod(self._shape), result)
        return wrap(result, self.dtype)
    return mean_dim(keys, self, None, False, dtype, out)


# Sums -----------------------------------------------------------------------------------------------------------


@fast(sums.added, when="always", benchmark="`x.sum(0)`, 4096x1000", exact=32.0)  # see Note [Sums in pieces]
def added(
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

    return reduce_in_pieces(add_piece, add_joined, array, dims, keepdim)


@fast(sums.added_without_nan, when="always", benchmark="1e6: std", exact=32.0)
def added_without_nan(array: Array, dtype: dtype, dims: Shape, keepdim: bool) -> Any:
    """A plain sum that is not NaN met none, and is the result."""
    total = added(array, dtype, dims, keepdim) if dtype.is_floating_point else None
    if total is None or np.isnan(total).any():
        return added(array, dtype, dims, keepdim, without_nan)
    return total


def without_nan(block: Array) -> Array:
    """A block with NaN replaced by 0."""
    return np.where(np.isnan(block), block.dtype.type(0), block)


def add_joined(parts: Array, dims: Shape) -> Array:
    """The sum of partial sums."""
    return np.asarray(add_reduce(parts, dims, True))


def add_everything(array: Array, result: Array) -> None:
    """Write the sum of a row-major array into a 0-dim one."""
    if array.size <= thresholds.SUMMED_AT_ONCE_UP_TO:
        add_reduction(array, None, None, result)
    else:
        add_reduction(add_pieces(array.reshape(-1)), None, None, result)


def add_reduce(array: Array, dims: Shape, keepdim: bool) -> Any:
    """The sum over dimensions in the array's own dtype; see Note [Sums in pieces]."""
    if array.size <= thresholds.SUMMED_AT_ONCE_UP_TO or array.dtype.kind != "f":
        return add_reduction(array, dims, array.dtype, None, keepdim)
    # From here on the dimensions are in memory order, the slowest first.
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    kept = array.transpose(order)
    reduced = tuple(at for at, d in enumerate(order) if d in dims)
    kept = add_runs(kept, reduced)
    for d in reduced:
        if kept.shape[d] > thresholds.SUMMED_ROWS and math.prod(kept.shape[d + 1 :]) > 1:
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
    """The array with its last dimension summed piece by piece; the last piece may be smaller."""
    size = runs.shape[-1]
    if size <= thresholds.SUMMED_PIECE:
        one: Array = np.einsum("...i->...", runs)[..., None]
        return one
    whole = size // thresholds.SUMMED_PIECE * thresholds.SUMMED_PIECE
    sums: Array = np.einsum("...i->...", runs[..., :whole].reshape(*runs.shape[:-1], -1, thresholds.SUMMED_PIECE))
    return sums if whole == size else np.concatenate([sums, add_pieces(runs[..., whole:])], -1)


def add_blocks(array: Array, d: int) -> Array:
    """The array with blocks of rows along a dimension summed by BLAS; the last block may be smaller."""
    before, (size, *after) = array.shape[:d], array.shape[d:]
    whole = size // thresholds.SUMMED_ROWS
    at = (slice(None),) * d
    blocks = array[(*at, slice(whole * thresholds.SUMMED_ROWS))]
    rows = blocks.reshape(math.prod(before), whole, thresholds.SUMMED_ROWS, math.prod(after))
    sums: Array = np.matmul(np.ones(thresholds.SUMMED_ROWS, array.dtype), rows).reshape(*before, whole, *after)
    if whole * thresholds.SUMMED_ROWS == size:
        return sums
    rest = add_reduction(array[(*at, slice(whole * thresholds.SUMMED_ROWS, None))], d, array.dtype, None, True)
    return np.concatenate([sums, rest], d)


# Extrema --------------------------------------------------------------------------------------------------------


@fast(sums.extrema, when="half precision", benchmark="1e6: amax of rows", exact="bits")
def extrema(ufunc: np.ufunc, array: Array, dims: Shape, keepdim: bool) -> Any:
    """The extrema over dimensions; half precision is cast to float32 piece by piece."""
    if not is_half(array):
        return ufunc.reduce(array, dims, keepdims=keepdim)

    def piece(block: Array, dims: Shape) -> Array:
        return joined(as_single.run(block), dims)

    def joined(parts: Array, dims: Shape) -> Array:
        return np.asarray(ufunc.reduce(parts, dims, keepdims=True))

    return reduce_in_pieces(piece, joined, array, dims, keepdim)


@fast(sums.positions, when="large, and the axis is not contiguous", benchmark="1e6: argmax of rows", exact="bits")
def positions(position: Callable[..., Any], array: Array, axis: int | None, keepdim: bool) -> Any:
    """The indices of the extrema. NumPy would copy the whole of an array whose axis is not contiguous."""
    wide = np.float32 if is_half(array) else array.dtype
    at_once = array.size <= thresholds.STRIP
    if axis is None or at_once or (wide == array.dtype and array.strides[axis] == array.itemsize):
        return position(array.astype(wide, copy=False), axis, keepdims=keepdim)
    indices = np.empty(shapes.reduced_shape(array.shape, (axis,), True), np.int64)
    for strip in strips(array, axis):
        found = position(array[strip].astype(wide, copy=False), axis, keepdims=True)
        indices[tuple(slice(0, 1) if d == axis else cut for d, cut in enumerate(strip))] = found
    return indices if keepdim else indices.squeeze(axis)


@fast(sums.at_positions, when="row-major, lines contiguous or few", benchmark="1e6: argmax of rows", exact="bits")
def at_positions(array: Array, indices: Array, axis: int) -> Array:
    """One vector of flat indices."""
    step = math.prod(array.shape[axis + 1 :])  # from one element of a line to the next
    if not array.flags.c_contiguous or not array.size or (step > 1 and indices.size > thresholds.BLOCK):
        return sums.at_positions.plain(array, indices, axis)
    first = np.arange(0, array.size, array.shape[axis] * step)
    if step > 1:
        first, indices = first[:, None] + np.arange(step), indices * step
    return array.reshape(-1).take(first.reshape(indices.shape) + indices)


# Products -------------------------------------------------------------------------------------------------------


# Every factor is rounded, in whichever order, and the error grows with the root of their number. The bound holds for
# 10,000 of them; 162 units were measured for 100,000.
@fast(moments.multiplied, when="long contiguous rows", benchmark="1e6: prod of rows", exact=64.0)
def multiplied(array: Array, axis: int | None, keepdim: bool) -> Any:
    """Halves of rows are multiplied by each other."""
    if not (array.flags.c_contiguous and array.size > thresholds.WIDE_BLOCK and axis in (None, array.ndim - 1)):
        return multiply_reduction(array, axis, array.dtype, None, keepdim)
    rows = array.reshape(-1, array.shape[-1] if axis is not None else array.size)
    shape = () if axis is None else array.shape[:-1] + (1,) * keepdim
    return multiply_rows(rows).reshape(shape)


def multiply_rows(rows: Array) -> Array:
    """The product of each row, pairwise in blocks: its two halves are multiplied, so that no step waits for another."""
    height = max(1, thresholds.PRODUCT_BLOCK // max(rows.shape[1], 1))
    result = np.empty(len(rows), rows.dtype)
    for top in range(0, len(rows), height):
        block = rows[top : top + height]
        if len(block) == 1 and block.size > thresholds.WIDE_BLOCK:
            whole = block.size // thresholds.LANES * thresholds.LANES
            columns = multiply_reduction(block[0, :whole].reshape(-1, thresholds.LANES), 0)
            block = np.concatenate([columns, block[0, whole:]])[None]
        while (width := block.shape[1]) > thresholds.MULTIPLIED_IN_TURN_UP_TO:
            half = width // 2
            product = block[:, :half] * block[:, half : 2 * half]
            if width % 2:
                product[:, 0] *= block[:, -1]
            block = product
        result[top : top + height] = multiply_reduction(block, 1)
    return result


# Variances ------------------------------------------------------------------------------------------------------


@fast(moments.variance, when="always", benchmark="1e6: std", exact=2.0)
def variance(array: Array, dims: Shape, divisor: float) -> tuple[Array, Array]:
    """One pass over few elements, or many in blocks: Note [Moments in blocks]."""
    if 0 < array.size <= thresholds.WIDE_BLOCK and array.dtype.kind != "c":
        few = variance_of_few(array, dims, divisor)
        if few is not None:
            return few
    rows = moments.as_rows(array, dims)
    squares, mean = square_distances(rows)
    return np.true_divide(squares, divisor), mean


def variance_of_few(array: Array, dims: Shape, divisor: float) -> tuple[Array, Array] | None:
    """The variance and mean of real numbers that fit into one block, with keepdim; None where a sum is not finite."""
    wide, count = array.astype(np.float64), math.prod(array.shape[d] for d in dims)
    mean = np.true_divide(add_reduction(wide, dims, keepdims=True), count)
    if not np.isfinite(mean).all():
        return None
    wide -= mean
    np.multiply(wide, wide, wide)
    return np.true_divide(add_reduction(wide, dims, keepdims=True), divisor), mean


def square_distances(rows: Array) -> tuple[Array, Array]:
    """For each row the sum of squared deviations from its mean, and the mean; see Note [Moments in blocks]."""
    height, width = rows.shape
    wide = np.complex128 if rows.dtype.kind == "c" else np.float64
    columns = rows.strides[0] < rows.strides[1]  # strided rows: take many rows, and few elements of each
    step = min(height, thresholds.LANES) if columns else max(1, thresholds.WIDE_BLOCK // max(width, 1))
    length = max(1, thresholds.WIDE_BLOCK // max(step, 1))
    squares, totals = np.zeros(height), np.zeros(height, wide)
    for top in range(0, height, step):
        part = slice(top, top + step)
        center: Any = 0
        for start in range(0, width, length):
            block: Array = rows[part, start : start + length].astype(wide)  # with the memory order of the rows
            count = block.shape[1]
            total = add_reduction(block, 1)
            totals[part] += total
            middle = total / count
            block -= middle[:, None]
            squares[part] += sum(np.einsum("ij,ij->i", x, x) for x in parts(block))
            if start:  # the sum so far is relative to another mean
                away = middle - center
                squares[part] += (away * np.conj(away)).real * (count * start / (start + count))
                center = center + away * (count / (start + count))
            else:
                center = middle
    for total, x in zip(parts(totals), parts(rows), strict=True):
        endless = np.flatnonzero(np.isinf(total))
        # Welford's formula subtracts an infinite mean from the next element
        total[endless[np.isinf(x[endless, :-1]).any(1)]] = np.nan
    return squares, np.true_divide(totals, width)


# Hashes ---------------------------------------------------------------------------------------------------------


@fast(moments.exclusive_or, when="always, in pieces if large", benchmark="fast: hash_tensor, 1e6 float32", exact="bits")
def exclusive_or(array: Array, wide: Any, dims: Shape, keepdim: bool) -> Any:
    """Elements are converted piece by piece."""

    def piece(part: Array, dims: Shape) -> Array:
        return joined(part.astype(wide, order="C").view(np.uint64), dims)

    def joined(bits: Array, dims: Shape) -> Array:
        return np.asarray(xor_reduction(bits, dims, keepdims=True))

    return reduce_in_pieces(piece, joined, array, dims, keepdim)
