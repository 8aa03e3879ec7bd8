"""How are cumulative sums, products and extrema computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (cumsum, cumprod, cummax_cummin_helper), cpu/ReduceOpsKernel.cpp
    (cumsum_cpu_kernel, cumprod_cpu_kernel, logcumsumexp_cpu_kernel), cpu/LogAddExp.h
Differs: PyTorch scans each line in one loop. See Note [Scans in blocks].

# Note [Scans in blocks]
float32 is accumulated in float64 and half precision in float32, and rounded once, as in PyTorch. NumPy accumulates
contiguous lines in blocks that fit into the processor's cache, so that no float64 array of the input's size is made.
Where other dimensions follow, the running totals of all lines are a vector, to which one row after another is added:
that is ten times faster than NumPy's accumulate, which scans the lines one by one. Many contiguous lines are therefore
first transposed, a few columns at a time, into a small array; transposing there and back costs a third of what it
saves. Every path performs the same additions in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import BY_NAME, FLOAT8, FLOATING, STORED_ONLY, bool_, check_implemented, dtype
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.blocks import from_last, strips, to_last
from glasstorch.kernels.cpu.reductions.sums import UNORDERED, add_reduction, finish, finish_pair, widened
from glasstorch.kernels.iterator import WIDE_BLOCK
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes import scans as shapes

CPU = KernelTable("CPU")

NOT_EXPONENTIATED = frozenset(d for d in BY_NAME.values() if d.category < FLOATING) | FLOAT8
NOT_ADDED_UP = STORED_ONLY | {bool_}
SPLIT_FROM = 64  # elements from which a line of complex numbers is split, if there are no more lines than that
TRANSPOSE_FROM = 256  # lines from which transposing, and a NumPy call per column, pays
TRANSPOSED_BLOCK = 1 << 16  # elements that are transposed at a time
TRANSPOSED_COLUMNS = 64  # columns of them
UNSPLIT_UP_TO = 1 << 20  # elements up to which cumulative extrema are computed without strips
ROWWISE_FROM = 16  # inner elements from which a NumPy call per row pays
ACCUMULATED_IN = {"e": np.float32, "E": np.float32, "f": np.float64, "F": np.complex128}  # by NumPy's character


def register_scan(name: str, ufunc: np.ufunc) -> None:
    """Register one operator and its forms."""

    def scan(keys: int, self: Tensor, dim: int, dtype: dtype | None, out: Tensor | None = None) -> Tensor:
        computed = out.dtype if out is not None else shapes.cumulative(self, dim, dtype).dtype
        array: Any = self.array()
        if array.dtype != computed.numpy:
            array = quietly(array.astype, computed.numpy)
        if not array.ndim or not array.size:
            return finish(array.copy(), computed, out)
        check_implemented(f"{name}_out_cpu", computed, NOT_ADDED_UP)
        wide = ACCUMULATED_IN.get(computed.numpy.char, computed.numpy)
        return finish(quietly(accumulated, ufunc, array, wrap_dim(dim, array.ndim), wide), computed, out)

    structured(CPU, name, scan)


def accumulated(ufunc: np.ufunc, array: Array, axis: int, wide: Any) -> Array:
    """A cumulative sum or product along an axis, accumulated in a wider dtype; see Note [Scans in blocks]."""
    if math.prod(array.shape[axis + 1 :]) >= ROWWISE_FROM:
        result = np.empty(array.shape, array.dtype)
        steps, totals = np.moveaxis(array, axis, 0), np.moveaxis(result, axis, 0)
        total = steps[0].astype(wide)
        totals[0] = total
        for i in range(1, len(steps)):
            ufunc(total, steps[i].astype(wide, copy=False), total)
            totals[i] = total
        return result
    last = to_last(array, axis)
    width = last.shape[-1]
    turned = array.dtype.kind == "f" and array.size // width >= TRANSPOSE_FROM
    if wide == array.dtype and not turned:
        one: Array = ufunc.accumulate(array, axis)
        return one
    rows = last.reshape(-1, width)
    result = empty_array(rows.shape, array.dtype, array.nbytes)
    if turned:
        for part in parts_to_turn(rows):
            accumulate_columns(ufunc, rows[part], result[part], wide)
        return from_last(result.reshape(last.shape), axis)
    height = max(1, WIDE_BLOCK // width)
    for top in range(0, len(rows), height):
        part, carry = slice(top, top + height), None
        for start in range(0, width, WIDE_BLOCK):
            block = rows[part, start : start + WIDE_BLOCK].astype(wide)
            if carry is not None:
                block[:, 0] = ufunc(block[:, 0], carry)
            ufunc.accumulate(block, 1, None, block)
            carry = block[:, -1].copy()
            result[part, start : start + WIDE_BLOCK] = block
    return from_last(result.reshape(last.shape), axis)


def parts_to_turn(rows: Array) -> Iterator[slice]:
    """Slices of about equally many rows, of which TRANSPOSED_COLUMNS columns fit into cache."""
    number = -(-len(rows) * min(rows.shape[1], TRANSPOSED_COLUMNS) // TRANSPOSED_BLOCK)
    height = -(-len(rows) // number)
    return (slice(top, top + height) for top in range(0, len(rows), height))


def running_columns(ufunc: np.ufunc, rows: Array, wide: Any) -> Iterator[tuple[slice, Array, Array]]:
    """Slices of columns, each with these columns as rows and their running totals, in a dtype.

    The arrays are overwritten by the next ones.
    """
    columns, width = min(TRANSPOSED_COLUMNS, rows.shape[1]), rows.shape[1]
    block = np.empty((columns, len(rows)), wide)
    totals = np.empty((columns + 1, len(rows)), wide)
    for start in range(0, width, columns):
        count = min(columns, width - start)
        block[:count] = rows[:, start : start + count].T
        if start:
            totals[0] = totals[columns]
        else:
            totals[1] = block[0]
        for i in range(not start, count):
            ufunc(totals[i], block[i], out=totals[i + 1])
        yield slice(start, start + count), block[:count], totals[1 : count + 1]


def accumulate_columns(ufunc: np.ufunc, rows: Array, result: Array, wide: Any) -> None:
    """Write the cumulative sums or products of rows; see Note [Scans in blocks]."""
    for part, _, totals in running_columns(ufunc, rows, wide):
        result[:, part] = totals.T


def register_running_extremum(name: str, ufunc: np.ufunc, without_nan: np.ufunc) -> None:
    """Register cummax or cummin: values and indices. Of equal elements the last counts; NaN propagates."""
    shape = shape_function(name)

    def along(array: Array, axis: int) -> tuple[Array, Array]:
        last = to_last(array, axis)
        values, indices = quietly(running_extremum, ufunc, without_nan, last.reshape(-1, last.shape[-1]))
        return from_last(values.reshape(last.shape), axis), from_last(indices.reshape(last.shape), axis)

    def running(keys: int, self: Tensor, dim: int, out: tuple[Tensor, Tensor] | None = None) -> tuple[Any, ...]:
        shape(self, dim)
        array: Any = self.array()
        if not (array.ndim and array.size):
            values, indices = array.copy(), np.zeros(array.shape, np.int64)
        else:
            check_implemented(f"{name}_cpu", self.dtype, UNORDERED)
            axis = wrap_dim(dim, array.ndim)
            if array.size <= UNSPLIT_UP_TO:
                values, indices = along(array, axis)
            else:
                values, indices = np.empty(array.shape, array.dtype), np.empty(array.shape, np.int64)
                for strip in strips(array, axis):
                    values[strip], indices[strip] = along(array[strip], axis)
        return finish_pair(name, values, indices, self.dtype, out)

    structured(CPU, name, running)


def running_extremum(ufunc: np.ufunc, without_nan: np.ufunc, rows: Array) -> tuple[Array, Array]:
    """For each element of each row, the extremum up to there and its column.

    Few elements set a new record: those are found first, then repeated until the next one.
    """
    width = rows.shape[1]
    height = max(1, WIDE_BLOCK // width)
    turned = len(rows) >= TRANSPOSE_FROM
    records = []
    for part in parts_to_turn(rows) if turned else (slice(top, top + height) for top in range(0, len(rows), height)):
        block = widened(rows[part])
        if turned:
            record = record_columns(ufunc, block)
        elif block.dtype.kind == "f" and np.isnan(add_reduction(block, None)):  # or there are infinities of both signs
            record = (block == ufunc.accumulate(block, 1)) | np.isnan(block)
        else:
            record = block == without_nan.accumulate(block, 1)
        records.append(np.flatnonzero(record) + part.start * width)
    found = np.concatenate(records)
    lengths = np.empty_like(found)
    np.subtract(found[1:], found[:-1], out=lengths[:-1])
    lengths[-1] = rows.size - found[-1]
    return np.repeat(rows.reshape(-1)[found], lengths), np.repeat(found % width, lengths)


def record_columns(ufunc: np.ufunc, rows: Array) -> Array:
    """A mask of the elements that equal the extremum up to there, or are NaN; see Note [Scans in blocks]."""
    record = np.empty(rows.shape, np.bool_)
    for part, block, totals in running_columns(ufunc, rows, rows.dtype):
        equal = block == totals
        if totals.dtype.kind == "f" and np.isnan(totals[-1]).any():
            equal |= np.isnan(block)
        record[:, part] = equal.T
    return record


def logcumsumexp(keys: int, self: Tensor, dim: int, out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials so far, without overflow on the way."""
    shapes.logcumsumexp(self, dim)
    check_implemented("logcumsumexp_out_cpu", self.dtype, NOT_EXPONENTIATED)
    array: Any = self.array()
    if not array.ndim or not array.size:
        return finish(array.copy(), self.dtype, out)
    axis = wrap_dim(dim, array.ndim)
    if self.dtype.is_complex:
        return finish(quietly(_complex_logcumsumexp, array.astype(np.complex128), axis), self.dtype, out)
    return finish(quietly(accumulated, np.logaddexp, array, axis, np.float64), self.dtype, out)


def _complex_logcumsumexp(array: Array, axis: int) -> Array:
    """Cumulative sums along an axis; a long axis is split into parts that are scanned side by side, then combined.

    The split changes no result only where no sum is infinite.
    """
    steps = np.moveaxis(array, axis, 0)
    length = len(steps)
    if (
        length < SPLIT_FROM
        or array.size > length * SPLIT_FROM
        or not np.all(np.isfinite(array) | (array.real == -np.inf))
    ):
        return np.moveaxis(_complex_sums(steps), 0, axis)
    width = math.isqrt(length - 1) + 1
    padded = np.full((width * width, *steps.shape[1:]), -np.inf, array.dtype)
    padded[:length] = steps
    parts = np.moveaxis(_complex_sums(np.moveaxis(padded.reshape(width, width, -1), 1, 0)), 0, 1)
    before = _complex_sums(parts[:, -1])
    parts[1:] = log_add_exp(parts[1:], before[:-1, np.newaxis])
    return np.moveaxis(parts.reshape(padded.shape)[:length], 0, axis)


def _complex_sums(steps: Array) -> Array:
    """Cumulative sums along the first dimension, one slice after another."""
    sums = np.empty_like(steps)
    total = np.full(steps.shape[1:], -np.inf, steps.dtype)
    for i, step in enumerate(steps):
        sums[i] = total = log_add_exp(step, total)
    return sums


def log_add_exp(x: Array, y: Array) -> Array:
    """`log(exp(x) + exp(y))` of complex numbers; NaN in either part makes both parts NaN."""
    less = x.real < y.real
    low, high = np.where(less, x, y), np.where(less, y, x)
    endless = ~np.isfinite(low.real) & (low.real == high.real)
    both_endless = np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high)))
    result = np.where(endless, both_endless, np.log1p(np.exp(low - high)) + high)
    return np.where(np.isnan(x) | np.isnan(y), array_of_nan(x), result)


def array_of_nan(like: Array) -> Any:
    """The complex number whose parts are both NaN, in the dtype of an array."""
    return like.dtype.type(complex(np.nan, np.nan))


register_scan("cumsum", np.add)
register_scan("cumprod", np.multiply)
register_running_extremum("cummax", np.maximum, np.fmax)
register_running_extremum("cummin", np.minimum, np.fmin)
structured(CPU, "logcumsumexp", logcumsumexp)
