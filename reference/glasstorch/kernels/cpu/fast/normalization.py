"""How are layers and batches normalized fast?

Mirrors: aten/src/ATen/native/cpu/layer_norm_kernel.cpp, batch_norm_kernel.cpp
Differs: NumPy's loops, over blocks of rows that stay in cache, in the input's own precision. The sums of all blocks are
    added in float64.

# Note [Rows in blocks]
A block of rows goes through all passes before the next is touched, and blocks are shared among threads where the array
is large. A row is what one sample's numbers are in a layer, and a channel's in one sample of a batch. In its threads
NumPy adds: BLAS would start threads of its own, and all would wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.allocator import empty_array
from glasstorch.core.parallel import get_num_threads
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import normalization as plain
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.pointwise.threads import helpers
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Outs

Part = Callable[[slice], Any]  # computes some of the rows, or of the samples

FULL = (np.dtype(np.float32), np.dtype(np.float64))
LAYER, BATCH = "`layer_norm`, 4096x768", "`batch_norm`, 32x16x28x28"
OF_ONE_PRECISION = "float32 or float64, and all in one of them"
OF_LONG_ROWS = "float32 or float64, contiguous, with many places in each channel"


def in_blocks(part: Part, count: int, size: int) -> list[Any]:
    """What `part` gives for each block of `count` rows, which have `size` elements together."""
    step = max(1, thresholds.NORMALIZED_BLOCK * count // size)

    def run(start: int, stop: int) -> list[Any]:
        return [part(slice(i, min(i + step, stop))) for i in range(start, stop, step)]

    threads = min(get_num_threads(), size // thresholds.NORMALIZED_BY_A_THREAD, count)
    if threads < 2:
        return run(0, count)
    ends = [count * i // threads for i in range(threads + 1)]
    others = [helpers().submit(quietly, run, start, stop) for start, stop in pairwise(ends[1:])]
    try:
        results = run(0, ends[1])
    finally:
        for other in others:
            other.exception()  # waits: no thread may still write when an error is raised
    return results + [block for other in others for block in other.result()]


def applies(*tensors: Tensor | None) -> bool:
    """Whether all are of one precision that NumPy computes in, and the first has elements."""
    first, *others = (tensor for tensor in tensors if tensor is not None)
    alike = all(tensor.dtype is first.dtype for tensor in others)
    return alike and first.dtype.numpy in FULL and first.numel() > 0


def like(array: Array) -> Array:
    """Memory for a result."""
    return empty_array(array.shape, array.dtype, array.nbytes)


def added(blocks: Sequence[Array]) -> Array:
    """The sum of the blocks' sums, in float64."""
    return np.add.reduce(np.asarray(blocks), 0, np.float64)  # type: ignore[no-any-return]


def column_sums(array: Array) -> Array:
    """The sums of a block's columns; BLAS adds short rows faster than NumPy."""
    if array.shape[1] < thresholds.NORMALIZED_COLUMNS_FROM:
        return np.matmul(np.ones(len(array), array.dtype), array)  # type: ignore[no-any-return]
    return np.add.reduce(array, 0)  # type: ignore[no-any-return]


def row_sums(array: Array, factors: Array) -> Array:
    """The sum (rows, 1) of each row of a block times factors; here too BLAS is faster for short rows."""
    if array.shape[1] < thresholds.NORMALIZED_COLUMNS_FROM:
        return np.matmul(array, factors[:, None])  # type: ignore[no-any-return]
    return np.vecdot(array, factors)[:, None]  # type: ignore[no-any-return]


def mean_squares(array: Array, share: Array) -> Array:
    """The mean (rows, 1) of the squares in each row of a block."""
    if array.shape[1] < thresholds.NORMALIZED_COLUMNS_FROM:
        return row_sums(np.square(array), share)
    return np.vecdot(array, array)[:, None] / array.shape[1]  # type: ignore[no-any-return]


# Layers ---------------------------------------------------------------------------------------------------------


def rows_of(tensor: Tensor, kind: plain.Kind) -> Array:
    """The elements as a matrix of rows that follow each other."""
    return np.ascontiguousarray(tensor.array().reshape(kind.shape))


@fast(plain.normalized, when=f"a layer of {OF_ONE_PRECISION}", benchmark=LAYER, exact=8.0)
def normalized(
    input: Tensor, kind: plain.Kind, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Array, Array, Array]:
    """See Note [Rows in blocks]."""
    if len(kind.shape) != 2 or not applies(input, weight, bias):
        return plain.normalized.plain(input, kind, weight, bias, eps)
    scale, shift = (None if t is None else t.array().reshape(-1) for t in (weight, bias))
    return normalized_rows(rows_of(input, kind), scale, shift, eps)


def normalized_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """The normalized rows, their means, and one over their deviations."""
    count, width = x.shape
    y, mean, rstd = like(x), np.empty((count, 1), x.dtype), np.empty((count, 1), x.dtype)
    share = np.full(width, 1 / width, x.dtype)
    negligible = 8 * np.finfo(x.dtype).eps

    def part(rows: slice) -> None:
        block, out, middle, inverse = x[rows], y[rows], mean[rows], rstd[rows]
        middle[...] = row_sums(block, share)
        np.subtract(block, middle, out)
        rest = row_sums(out, share)  # what rounding left in the mean
        variance = mean_squares(out, share) - np.square(rest)
        np.divide(1, np.sqrt(variance + eps), inverse)
        if not np.abs(rest * inverse).max() < negligible:
            np.add(middle, rest, middle)
            np.subtract(block, middle, out)
        np.multiply(out, inverse, out)
        if weight is not None:
            np.multiply(out, weight, out)
        if bias is not None:
            np.add(out, bias, out)

    in_blocks(part, count, x.size)
    return y, mean, rstd


def row_gradients(
    grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, wanted: Sequence[bool]
) -> tuple[Array | None, ...]:
    """The gradients of input, weight and bias, those that are wanted."""
    count, width = x.shape
    of_input = like(x) if wanted[0] else None
    share = (np.ones(width, x.dtype) if weight is None else weight) / width

    def part(rows: slice) -> tuple[Array, Array]:
        slopes, inverse = grad[rows], rstd[rows]
        distance = np.subtract(x[rows], mean[rows])
        product = np.multiply(slopes, distance)
        sums = np.matmul(inverse[:, 0], product), column_sums(slopes)
        if of_input is not None:
            along = row_sums(product, share) * inverse * inverse  # in this order: the square may overflow
            np.multiply(distance, along, distance)
            pulled = slopes if weight is None else np.multiply(slopes, weight, product)
            np.add(distance, row_sums(slopes, share), distance)
            out = np.subtract(pulled, distance, of_input[rows])
            np.multiply(out, inverse, out)
        return sums

    of_weight, of_bias = zip(*in_blocks(part, count, x.size), strict=True)
    return of_input, added(of_weight) if wanted[1] else None, added(of_bias) if wanted[2] else None


# Batches --------------------------------------------------------------------------------------------------------


def long_rows(tensor: Tensor) -> bool:
    """Whether the places of a channel follow each other, and are many."""
    count = tensor.numel() // max(1, tensor._shape[0] * tensor._shape[1])
    return count >= thresholds.NORMALIZED_PLACES_FROM and tensor.is_contiguous()


def planes_of(tensor: Tensor) -> Array:
    """The elements as (N, C, places)."""
    return tensor.array().reshape(plain.of_batch(tensor._shape).shape)


@fast(plain.channel_moments, when=OF_LONG_ROWS, benchmark=BATCH, exact=8.0)
def channel_moments(input: Tensor) -> tuple[Array, Array]:
    """See Note [Rows in blocks]."""
    if not (applies(input) and long_rows(input)):
        return plain.channel_moments.plain(input)
    x = planes_of(input)
    count, share = x.size // x.shape[1], np.full(x.shape[2], 1 / x.shape[2], x.dtype)

    def over_samples(blocks: Sequence[Array]) -> Array:
        return added(blocks)[None, :, None] / len(x)

    def means(samples: slice) -> Array:
        return np.add.reduce(np.vecdot(x[samples], share), 0, np.float64)  # type: ignore[no-any-return]

    near = over_samples(in_blocks(means, len(x), x.size)).astype(x.dtype)

    def part(samples: slice) -> tuple[Array, Array]:
        distance = x[samples] - near
        squares = np.add.reduce(np.vecdot(distance, distance), 0, np.float64)
        return squares, np.add.reduce(np.vecdot(distance, share), 0, np.float64)

    squares, rests = zip(*in_blocks(part, len(x), x.size), strict=True)
    rest = over_samples(rests)  # what rounding left in the mean
    return near + rest, added(squares)[None, :, None] / count - np.square(rest)


@fast(plain.by_channels, when=OF_LONG_ROWS, benchmark=BATCH, exact=8.0)
def by_channels(input: Tensor, mean: Array, rstd: Array, weight: Tensor | None, bias: Tensor | None) -> Array:
    """As `x * factor + summand`, which are computed in float64."""
    if not (applies(input) and long_rows(input)):
        return plain.by_channels.plain(input, mean, rstd, weight, bias)
    kind, x = plain.of_batch(input._shape), planes_of(input)
    factor = rstd * plain.parameter(weight, kind, 1.0)
    summand = (plain.parameter(bias, kind, 0.0) - mean * factor).astype(x.dtype)
    y, factor = like(x), factor.astype(x.dtype)

    def part(samples: slice) -> None:
        np.multiply(x[samples], factor, y[samples])
        np.add(y[samples], summand, y[samples])

    in_blocks(part, len(x), x.size)
    return y


def channel_gradients(
    grad: Array, x: Array, mean: Array, rstd: Array, factor: Array, train: bool, wanted: Sequence[bool]
) -> tuple[Array | None, ...]:
    """Two sums of each channel, then the gradient of the input, which is made of `grad`, x and a constant."""
    near, ones, count = mean.astype(x.dtype), np.ones(x.shape[2], x.dtype), x.size // x.shape[1]

    def sums(samples: slice) -> tuple[Array, Array]:
        slopes = grad[samples]
        alone = np.add.reduce(np.vecdot(slopes, ones), 0, np.float64)
        return alone, np.add.reduce(np.vecdot(slopes, x[samples] - near), 0, np.float64)

    of_bias, along = (added(blocks)[None, :, None] for blocks in zip(*in_blocks(sums, len(x), x.size), strict=True))
    of_weight = (along - of_bias * (mean - near)) * rstd
    if not wanted[0]:
        return None, of_weight, of_bias
    if not train:
        return grad * factor.astype(x.dtype), of_weight, of_bias
    slope = -factor * rstd * of_weight / count
    of_grad, of_distance = factor.astype(x.dtype), slope.astype(x.dtype)
    constant = (slope * (near - mean) - factor * of_bias / count).astype(x.dtype)
    of_input = like(x)

    def part(samples: slice) -> None:
        out = of_input[samples]
        distance = x[samples] - near
        np.multiply(distance, of_distance, distance)
        np.multiply(grad[samples], of_grad, out)
        np.add(out, distance, out)
        np.add(out, constant, out)

    in_blocks(part, len(x), x.size)
    return of_input, of_weight, of_bias


# Gradients ------------------------------------------------------------------------------------------------------


@fast(
    plain.gradients,
    when=f"a layer, or a batch with many places in each channel: {OF_ONE_PRECISION}",
    benchmark="`layer_norm` and gradients, 4096x768",
    exact=8.0,
)
def gradients(
    grad_out: Tensor,
    input: Tensor,
    mean: Array,
    rstd: Array,
    weight: Tensor | None,
    kind: plain.Kind,
    results: Sequence[Any],
    out: Outs,
    fixed: bool = False,
) -> tuple[Any, ...]:
    """See Note [Rows in blocks]."""
    wanted = [result is not None for result in results]
    found: tuple[Array | None, ...]
    if applies(input, grad_out, weight) and len(kind.shape) == 2:
        grad, x = rows_of(grad_out, kind), rows_of(input, kind)
        columns = (mean.astype(x.dtype), rstd.astype(x.dtype))
        scale = None if weight is None else weight.array().reshape(-1)
        found = quietly(row_gradients, grad, x, *columns, scale, wanted)
    elif applies(input, grad_out, weight) and len(kind.shape) == 3 and long_rows(input) and grad_out.is_contiguous():
        grad, x = planes_of(grad_out), planes_of(input)
        factor = rstd * plain.parameter(weight, kind, 1.0)
        found = quietly(channel_gradients, grad, x, mean, rstd, factor, not fixed, wanted)
    else:
        return plain.gradients.plain(grad_out, input, mean, rstd, weight, kind, results, out, fixed)
    return plain.finished(found, results, out)
