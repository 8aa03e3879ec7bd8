"""How are cumulative sums, products and extrema of large arrays computed fast?

Mirrors: aten/src/ATen/native/cpu/ReduceOpsKernel.cpp (base_kernel_functor), which scans each line in one loop

# Note [Scans in blocks]
NumPy accumulates contiguous lines in blocks that fit into the processor's cache, so that no float64 array of the
input's size is made. Where other dimensions follow, the running totals of all lines are a vector, to which one row
after another is added: that is ten times faster than NumPy's accumulate, which scans the lines one by one. Many
contiguous lines are therefore first transposed, a few columns at a time, into a small array; transposing there and back
costs a third of what it saves. Every path performs the same additions in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from glasstorch.core.allocator import empty_array
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import from_last, strips, to_last
from glasstorch.kernels.cpu.reductions.sums import add_reduction
from glasstorch.kernels.cpu.scans import accumulated, complex_sums, log_add_exp, running_extremum
from glasstorch.kernels.halves import widened


@fast(
    accumulated,
    when="the lines are many, or accumulated in another dtype, or other dimensions follow",
    benchmark="fast: cumsum down columns, 1,000x1,000",
    exact="bits",
)
def accumulated_in_blocks(ufunc: np.ufunc, array: Array, axis: int, wide: Any) -> Array:
    """See Note [Scans in blocks]."""
    if math.prod(array.shape[axis + 1 :]) >= thresholds.SCAN_BY_ROWS_FROM:
        return accumulated_by_rows(ufunc, array, axis, wide)
    last = to_last(array, axis)
    width = last.shape[-1]
    turned = array.dtype.kind == "f" and array.size // width >= thresholds.SCAN_TURNED_FROM
    if wide == array.dtype and not turned:
        one: Array = ufunc.accumulate(array, axis)
        return one
    rows = last.reshape(-1, width)
    result = empty_array(rows.shape, array.dtype, array.nbytes)
    if turned:
        for part in parts_to_turn(rows):
            for columns, _, totals in running_columns(ufunc, rows[part], wide):
                result[part, columns] = totals.T
        return from_last(result.reshape(last.shape), axis)
    height = max(1, thresholds.WIDE_BLOCK // width)
    for top in range(0, len(rows), height):
        part, carry = slice(top, top + height), None
        for start in range(0, width, thresholds.WIDE_BLOCK):
            block = rows[part, start : start + thresholds.WIDE_BLOCK].astype(wide)
            if carry is not None:
                block[:, 0] = ufunc(block[:, 0], carry)
            ufunc.accumulate(block, 1, None, block)
            carry = block[:, -1].copy()
            result[part, start : start + thresholds.WIDE_BLOCK] = block
    return from_last(result.reshape(last.shape), axis)


def accumulated_by_rows(ufunc: np.ufunc, array: Array, axis: int, wide: Any) -> Array:
    """Add one slice after another to the running totals of all lines."""
    result = np.empty(array.shape, array.dtype)
    steps, totals = np.moveaxis(array, axis, 0), np.moveaxis(result, axis, 0)
    total = steps[0].astype(wide)
    totals[0] = total
    for i in range(1, len(steps)):
        ufunc(total, steps[i].astype(wide, copy=False), total)
        totals[i] = total
    return result


def parts_to_turn(rows: Array) -> Iterator[slice]:
    """Slices of about equally many rows, of which SCAN_TURNED_COLUMNS columns fit into cache."""
    columns = min(rows.shape[1], thresholds.SCAN_TURNED_COLUMNS)
    number = -(-len(rows) * columns // thresholds.SCAN_TURNED_BLOCK)
    height = -(-len(rows) // number)
    return (slice(top, top + height) for top in range(0, len(rows), height))


def running_columns(ufunc: np.ufunc, rows: Array, wide: Any) -> Iterator[tuple[slice, Array, Array]]:
    """Slices of columns, each with these columns as rows and their running totals, in a dtype.

    The arrays are overwritten by the next ones.
    """
    columns, width = min(thresholds.SCAN_TURNED_COLUMNS, rows.shape[1]), rows.shape[1]
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


# Running extrema ------------------------------------------------------------------------------------------------

WITHOUT_NAN: dict[np.ufunc, np.ufunc] = {np.maximum: np.fmax, np.minimum: np.fmin}


@fast(running_extremum, when="always, in strips if large", benchmark="1e6: cummax along rows", exact="bits")
def running_extremum_in_strips(ufunc: np.ufunc, array: Array, axis: int) -> tuple[Array, Array]:
    """The records of whole lines, found in strips."""
    if array.size <= thresholds.RUNNING_EXTREMUM_WHOLE_UP_TO:
        return repeated_records(ufunc, array, axis)
    values, indices = np.empty(array.shape, array.dtype), np.empty(array.shape, np.int64)
    for strip in strips(array, axis):
        values[strip], indices[strip] = repeated_records(ufunc, array[strip], axis)
    return values, indices


def repeated_records(ufunc: np.ufunc, array: Array, axis: int) -> tuple[Array, Array]:
    """The running extrema: few elements set a record, which is repeated until the next one."""
    last = to_last(array, axis)
    rows = last.reshape(-1, last.shape[-1])
    width = rows.shape[1]
    height = max(1, thresholds.WIDE_BLOCK // width)
    turned = len(rows) >= thresholds.SCAN_TURNED_FROM
    records = []
    for part in parts_to_turn(rows) if turned else (slice(top, top + height) for top in range(0, len(rows), height)):
        block = widened(rows[part])
        if turned:
            record = record_columns(ufunc, block)
        elif block.dtype.kind == "f" and np.isnan(add_reduction(block, None)):  # or there are infinities of both signs
            record = (block == ufunc.accumulate(block, 1)) | np.isnan(block)
        else:
            record = block == WITHOUT_NAN[ufunc].accumulate(block, 1)
        records.append(np.flatnonzero(record) + part.start * width)
    found = np.concatenate(records)
    lengths = np.empty_like(found)
    np.subtract(found[1:], found[:-1], out=lengths[:-1])
    lengths[-1] = rows.size - found[-1]
    values, indices = np.repeat(rows.reshape(-1)[found], lengths), np.repeat(found % width, lengths)
    return from_last(values.reshape(last.shape), axis), from_last(indices.reshape(last.shape), axis)


def record_columns(ufunc: np.ufunc, rows: Array) -> Array:
    """A mask of the elements that equal the extremum up to there, or are NaN; see Note [Scans in blocks]."""
    record = np.empty(rows.shape, np.bool_)
    for part, block, totals in running_columns(ufunc, rows, rows.dtype):
        equal = block == totals
        if totals.dtype.kind == "f" and np.isnan(totals[-1]).any():
            equal |= np.isnan(block)
        record[:, part] = equal.T
    return record


# Complex logcumsumexp -------------------------------------------------------------------------------------------


@fast(
    complex_sums,
    when="a long line of finite numbers, with few other lines beside it",
    benchmark="1e6: cumsum along rows",
    exact=8.0,
)
def complex_sums_in_parts(steps: Array) -> Array:
    """A long line is split into parts that are scanned side by side, then combined.

    The split changes more than roundings only where a sum is infinite.
    """
    length = len(steps)
    if (
        length < thresholds.COMPLEX_SCAN_SPLIT_FROM
        or steps.size > length * thresholds.COMPLEX_SCAN_SPLIT_FROM
        or not np.all(np.isfinite(steps) | (steps.real == -np.inf))
    ):
        return complex_sums.plain(steps)
    width = math.isqrt(length - 1) + 1
    padded = np.full((width * width, *steps.shape[1:]), -np.inf, steps.dtype)
    padded[:length] = steps
    parts = np.moveaxis(complex_sums.plain(np.moveaxis(padded.reshape(width, width, -1), 1, 0)), 0, 1)
    before = complex_sums.plain(parts[:, -1])
    parts[1:] = log_add_exp(parts[1:], before[:-1, np.newaxis])
    return parts.reshape(padded.shape)[:length]
