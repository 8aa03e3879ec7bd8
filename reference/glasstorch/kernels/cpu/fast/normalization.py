"""How are layers and batches normalized fast?

Mirrors: aten/src/ATen/native/cpu/layer_norm_kernel.cpp, batch_norm_kernel.cpp
Differs: NumPy's loops, over blocks of rows that stay in cache, in the input's own precision. Sums are products with a
    vector of ones, which BLAS computes; those of all blocks are added in float64.

# Note [Rows in blocks]
A block of rows goes through all passes before the next is touched, and blocks are shared among threads where the array
is large. A row is a sample's numbers in a layer, and a channel's in one sample of a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch.core.allocator import empty_array
from glasstorch.core.parallel import get_num_threads
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import normalization as plain
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.pointwise.threads import helpers
from glasstorch.kernels.cpu.normalization import Wanted
from glasstorch.kernels.quiet import quietly

Part = Callable[[slice], Any]  # computes some of the rows, or of the samples
FULL = (np.dtype(np.float32), np.dtype(np.float64))
LAYER, BATCH = "`layer_norm`, 4096x768", "`batch_norm`, 32x16x28x28"


def in_blocks(part: Part, count: int, size: int) -> list[Any]:
    """What `part` gives for all blocks of `count` rows, which have `size` elements together."""
    step = max(1, thresholds.NORMALIZED_BLOCK * count // size)

    def run(start: int, stop: int) -> list[Any]:
        return [part(slice(i, min(i + step, stop))) for i in range(start, stop, step)]

    threads = min(get_num_threads(), size // thresholds.NORMALIZED_BY_A_THREAD, count)
    if threads < 2:
        return run(0, count)
    ends = [count * i // threads for i in range(threads + 1)]
    others = [helpers().submit(quietly, run, *ends[i : i + 2]) for i in range(1, threads)]
    try:
        results = run(0, ends[1])
    finally:
        for other in others:
            other.exception()  # waits: no thread may still write when an error is raised
    return results + [block for other in others for block in other.result()]


def applies(*arrays: Array | None) -> bool:
    """Whether all are of one precision that NumPy computes in, and there is something to compute."""
    first, *others = (array for array in arrays if array is not None)
    alike = all(array.dtype is first.dtype for array in others)
    return alike and first.dtype in FULL and first.size > 0


def like(array: Array) -> Array:
    """Memory for a result."""
    return empty_array(array.shape, array.dtype, array.nbytes)


def added(blocks: list[Array]) -> Array:
    """The sum of the blocks' sums, in float64."""
    return np.add.reduce(np.asarray(blocks), 0, np.float64)


def column_sums(array: Array) -> Array:
    """The sums of a block's columns: BLAS adds short rows faster than NumPy, long ones only with threads of its own."""
    if array.shape[1] < thresholds.NORMALIZED_COLUMNS_BY_NUMPY_FROM:
        return np.matmul(np.ones(len(array), array.dtype), array)
    return np.add.reduce(array, 0)  # type: ignore[no-any-return]


# Rows -----------------------------------------------------------------------------------------------------------


@fast(plain.normalized_rows, when="float32 or float64, and all in one of them", benchmark=LAYER, exact=16.0)
def normalized_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """See Note [Rows in blocks]."""
    if not applies(x, weight, bias):
        return plain.normalized_rows.plain(x, weight, bias, eps)
    count, width = x.shape
    x, y = np.ascontiguousarray(x), like(x)
    mean, rstd = np.empty((count, 1), x.dtype), np.empty((count, 1), x.dtype)
    share = np.full(width, 1 / width, x.dtype)
    negligible = 8 * np.finfo(x.dtype).eps

    def part(rows: slice) -> None:
        block, out, middle, inverse = x[rows], y[rows], mean[rows], rstd[rows]
        np.vecdot(block, share, middle[:, 0])
        np.subtract(block, middle, out)
        rest = np.vecdot(out, share)[:, None]  # what rounding left in the mean
        variance = np.vecdot(out, out)[:, None] / width - np.square(rest)
        np.divide(1, np.sqrt(variance + eps), inverse)
        np.add(middle, rest, middle)
        if not np.abs(rest * inverse).max() < negligible:
            np.subtract(block, middle, out)
        np.multiply(out, inverse, out)
        if weight is not None:
            np.multiply(out, weight, out)
        if bias is not None:
            np.add(out, bias, out)

    in_blocks(part, count, x.size)
    return y, mean, rstd


@fast(plain.row_gradients, when="float32 or float64, and all in one of them", benchmark=LAYER, exact=16.0)
def row_gradients(
    grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, wanted: Wanted
) -> tuple[Array | None, ...]:
    """See Note [Rows in blocks]."""
    if not applies(grad, x, mean, rstd, weight):
        return plain.row_gradients.plain(grad, x, mean, rstd, weight, wanted)
    count, width = x.shape
    grad, x = np.ascontiguousarray(grad), np.ascontiguousarray(x)
    share = (np.ones(width, x.dtype) if weight is None else weight) / width
    of_input = like(x) if wanted[0] else None

    def part(rows: slice) -> tuple[Array, Array]:
        slopes, out = grad[rows], None if of_input is None else of_input[rows]
        inverse = rstd[rows]
        standard = np.subtract(x[rows], mean[rows])
        np.multiply(standard, inverse, standard)
        product = np.multiply(slopes, standard)
        sums = column_sums(product), column_sums(slopes)
        if out is not None:
            common = np.vecdot(slopes, share)[:, None]
            np.multiply(standard, np.vecdot(product, share)[:, None], standard)
            weighted = slopes if weight is None else np.multiply(slopes, weight, product)
            np.subtract(weighted, common, out)
            np.subtract(out, standard, out)
            np.multiply(out, inverse, out)
        return sums

    of_weight, of_bias = zip(*in_blocks(part, count, x.size), strict=True)
    return of_input, added(of_weight) if wanted[1] else None, added(of_bias) if wanted[2] else None


# Channels -------------------------------------------------------------------------------------------------------


def long_rows(x: Array) -> bool:
    """Whether the places of a channel follow each other, and are many."""
    return x.shape[2] >= thresholds.NORMALIZED_PLACES_FROM and x.flags.c_contiguous


@fast(plain.channel_moments, when="float32 or float64, contiguous, with many places", benchmark=BATCH, exact=16.0)
def channel_moments(x: Array) -> tuple[Array, Array]:
    """See Note [Rows in blocks]."""
    if not (applies(x) and long_rows(x)):
        return plain.channel_moments.plain(x)
    count = x.size // x.shape[1]
    ones = np.ones(x.shape[2], x.dtype)
    sums = in_blocks(lambda samples: np.add.reduce(np.matmul(x[samples], ones), 0, np.float64), len(x), x.size)
    mean = (added(sums) / count)[None, :, None]
    near = mean.astype(x.dtype)

    def part(samples: slice) -> tuple[Array, Array]:
        distance = x[samples] - near
        squares = np.add.reduce(np.vecdot(distance, distance), 0, np.float64)
        return squares, np.add.reduce(np.matmul(distance, ones), 0, np.float64)

    squares, rests = zip(*in_blocks(part, len(x), x.size), strict=True)
    rest = added(rests)[None, :, None] / count  # what rounding left in the mean
    return near + rest, added(squares)[None, :, None] / count - np.square(rest)


@fast(plain.normalized_channels, when="float32 or float64, contiguous, with many places", benchmark=BATCH, exact=16.0)
def normalized_channels(x: Array, mean: Array, rstd: Array, weight: Array | None, bias: Array | None) -> Array:
    """As `x * factor + summand`, which are computed in float64."""
    if not (applies(x) and long_rows(x)):
        return plain.normalized_channels.plain(x, mean, rstd, weight, bias)
    factor = plain.scaled(rstd, weight, None)
    summand = plain.scaled(-mean * factor, None, bias).astype(x.dtype)
    factor, y = factor.astype(x.dtype), like(x)

    def part(samples: slice) -> None:
        np.multiply(x[samples], factor, y[samples])
        np.add(y[samples], summand, y[samples])

    in_blocks(part, len(x), x.size)
    return y


@fast(plain.channel_gradients, when="float32 or float64, contiguous, with many places", benchmark=BATCH, exact=16.0)
def channel_gradients(
    grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, train: bool, wanted: Wanted
) -> tuple[Array | None, ...]:
    """Two sums of each channel, then the gradient of the input as a combination of gradient, input and a constant."""
    if not (applies(grad, x) and long_rows(x) and grad.flags.c_contiguous):
        return plain.channel_gradients.plain(grad, x, mean, rstd, weight, train, wanted)
    near, ones, count = mean.astype(x.dtype), np.ones(x.shape[2], x.dtype), x.size // x.shape[1]

    def sums(samples: slice) -> tuple[Array, Array]:
        slopes = grad[samples]
        alone = np.add.reduce(np.matmul(slopes, ones), 0, np.float64)
        return alone, np.add.reduce(np.vecdot(slopes, x[samples] - near), 0, np.float64)

    alone, along = zip(*in_blocks(sums, len(x), x.size), strict=True)
    of_bias = added(alone)[None, :, None]
    of_weight = (added(along)[None, :, None] - of_bias * (mean - near)) * rstd
    if not wanted[0]:
        return None, of_weight, of_bias
    factor, of_input = plain.scaled(rstd, weight, None), like(x)
    slope = -factor * rstd * of_weight / count
    summand = -factor * of_bias / count - slope * mean
    of_grad, of_x, constant = (array.astype(x.dtype) for array in (factor, slope, summand))

    def part(samples: slice) -> None:
        out = of_input[samples]
        np.multiply(grad[samples], of_grad, out)
        if train:
            np.add(out, x[samples] * of_x, out)
            np.add(out, constant, out)

    in_blocks(part, len(x), x.size)
    return of_input, of_weight, of_bias
