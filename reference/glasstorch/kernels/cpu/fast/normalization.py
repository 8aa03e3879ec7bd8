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
from typing import Any, NamedTuple

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
from glasstorch.operators.shapes import normalization as shapes

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
    others = [helpers().submit(quietly, run, *ends[i : i + 2]) for i in range(1, threads)]
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


# Layers ---------------------------------------------------------------------------------------------------------


def rows_of(tensor: Tensor, kind: plain.Kind) -> Array:
    """The elements as a matrix of rows that follow each other."""
    return np.ascontiguousarray(tensor.array().reshape(kind.shape))


@fast("native_layer_norm", when=OF_ONE_PRECISION, benchmark=LAYER, exact=16.0)
def native_layer_norm(
    keys: int,
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """See Note [Rows in blocks]."""
    results = shapes.native_layer_norm(input, normalized_shape, weight, bias, eps)
    if not applies(input, weight, bias):
        return plain.native_layer_norm(keys, input, normalized_shape, weight, bias, eps, out)
    kind = plain.of_last(input._shape, len(normalized_shape))
    scale, shift = (None if t is None else t.array().reshape(-1) for t in (weight, bias))
    return plain.finished(quietly(normalized_rows, rows_of(input, kind), scale, shift, eps), results, out)


def normalized_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """The normalized rows, their means, and one over their deviations."""
    count, width = x.shape
    y, mean, rstd = like(x), np.empty((count, 1), x.dtype), np.empty((count, 1), x.dtype)
    share = np.full(width, 1 / width, x.dtype)
    negligible = 8 * np.finfo(x.dtype).eps

    def part(rows: slice) -> None:
        block, out, middle, inverse = x[rows], y[rows], mean[rows], rstd[rows]
        np.vecdot(block, share, middle[:, 0])
        np.subtract(block, middle, out)
        rest = np.vecdot(out, share)[:, None]  # what rounding left in the mean
        variance = np.vecdot(out, out)[:, None] / width - np.square(rest)
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


@fast("native_layer_norm_backward", when=OF_ONE_PRECISION, benchmark=LAYER, exact=16.0)
def native_layer_norm_backward(
    keys: int,
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Sequence[bool],
    out: Outs = None,
) -> tuple[Any, ...]:
    """See Note [Rows in blocks]."""
    arguments = (normalized_shape, mean, rstd, weight, bias, output_mask)
    results = shapes.native_layer_norm_backward(grad_out, input, *arguments)
    if not applies(input, grad_out, mean, rstd, weight):
        return plain.native_layer_norm_backward(keys, grad_out, input, *arguments, out)
    kind = plain.of_last(input._shape, len(normalized_shape))
    matrices = (rows_of(t, kind) for t in (grad_out, input))
    columns = (t.array().reshape(-1, 1) for t in (mean, rstd))
    scale = None if weight is None else weight.array().reshape(-1)
    return plain.finished(quietly(row_gradients, *matrices, *columns, scale, output_mask), results, out)


def row_gradients(
    grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, wanted: Sequence[bool]
) -> tuple[Array | None, ...]:
    """The gradients of input, weight and bias, those that are wanted."""
    count, width = x.shape
    of_input = like(x) if wanted[0] else None
    share = (np.ones(width, x.dtype) if weight is None else weight) / width

    def part(rows: slice) -> tuple[Array, Array]:
        slopes, inverse = grad[rows], rstd[rows]
        unit = np.subtract(x[rows], mean[rows])
        np.multiply(unit, inverse, unit)
        product = np.multiply(slopes, unit)
        sums = column_sums(product), column_sums(slopes)
        if of_input is not None:
            common, along = np.vecdot(slopes, share)[:, None], np.vecdot(product, share)[:, None]
            np.multiply(unit, along, unit)
            pulled = slopes if weight is None else np.multiply(slopes, weight, product)
            out = np.subtract(pulled, common, of_input[rows])
            np.subtract(out, unit, out)
            np.multiply(out, inverse, out)
        return sums

    of_weight, of_bias = zip(*in_blocks(part, count, x.size), strict=True)
    return of_input, added(of_weight) if wanted[1] else None, added(of_bias) if wanted[2] else None


# Batches --------------------------------------------------------------------------------------------------------


class Statistics(NamedTuple):
    """Of each channel, of sizes (channels, 1), in float64."""

    mean: Array
    rstd: Array


def long_rows(input: Tensor) -> bool:
    """Whether the places of a channel follow each other, and are many."""
    count = input.numel() // max(1, input._shape[0] * input._shape[1])
    return count >= thresholds.NORMALIZED_PLACES_FROM and input.is_contiguous()


@fast("native_batch_norm", when=OF_LONG_ROWS, benchmark=BATCH, exact=16.0)
def native_batch_norm(
    keys: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """As `x * factor + summand`, which are computed in float64."""
    given = (weight, bias, running_mean, running_var)
    results = shapes.native_batch_norm(input, *given, training, momentum, eps)
    if not (applies(input, *given) and long_rows(input)):
        return plain.native_batch_norm(keys, input, *given, training, momentum, eps, out)
    kind = plain.of_batch(input._shape)
    x = input.array().reshape(kind.shape)
    scale, shift = plain.parameter(weight, kind, 1.0), plain.parameter(bias, kind, 0.0)

    def computed() -> tuple[Array, Array, Array]:
        if training:
            mean, variance = channel_moments(x)
            plain.move_statistics(input, running_mean, running_var, mean, variance, momentum)
        else:
            assert running_mean is not None
            assert running_var is not None
            mean, variance = (t.array().astype(np.float64).reshape(-1, 1) for t in (running_mean, running_var))
        rstd = 1 / np.sqrt(variance + eps)
        factor = rstd * scale
        y = stretched(x, factor.astype(x.dtype), (shift - mean * factor).astype(x.dtype))
        return (y, mean, rstd) if training else (y, np.zeros(0), np.zeros(0))

    return plain.finished(quietly(computed), results, out)


def channel_moments(x: Array) -> tuple[Array, Array]:
    """The mean and the variance of each channel of (N, C, places)."""
    count, share = x.size // x.shape[1], np.full(x.shape[2], 1 / x.shape[2], x.dtype)

    def over_samples(blocks: Sequence[Array]) -> Array:
        return added(blocks)[:, None] / len(x)

    def means(samples: slice) -> Array:
        return np.add.reduce(np.vecdot(x[samples], share), 0, np.float64)  # type: ignore[no-any-return]

    near = over_samples(in_blocks(means, len(x), x.size)).astype(x.dtype)

    def part(samples: slice) -> tuple[Array, Array]:
        distance = x[samples] - near
        squares = np.add.reduce(np.vecdot(distance, distance), 0, np.float64)
        return squares, np.add.reduce(np.vecdot(distance, share), 0, np.float64)

    squares, rests = zip(*in_blocks(part, len(x), x.size), strict=True)
    rest = over_samples(rests)  # what rounding left in the mean
    return near + rest, added(squares)[:, None] / count - np.square(rest)


def stretched(x: Array, factor: Array, summand: Array) -> Array:
    """`x * factor + summand`, which each channel has its own of."""
    y = like(x)

    def part(samples: slice) -> None:
        np.multiply(x[samples], factor, y[samples])
        np.add(y[samples], summand, y[samples])

    in_blocks(part, len(x), x.size)
    return y


@fast("native_batch_norm_backward", when=OF_LONG_ROWS, benchmark=BATCH, exact=16.0)
def native_batch_norm_backward(
    keys: int,
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
    out: Outs = None,
) -> tuple[Any, ...]:
    """See Note [Rows in blocks]."""
    given = (running_mean, running_var, save_mean, save_invstd)
    results = shapes.native_batch_norm_backward(grad_out, input, weight, *given, train, eps, output_mask)
    if not (applies(input, grad_out, weight) and long_rows(input) and grad_out.is_contiguous()):
        return plain.native_batch_norm_backward(keys, grad_out, input, weight, *given, train, eps, output_mask, out)
    kind = plain.of_batch(input._shape)
    grad, x = (t.array().reshape(kind.shape) for t in (grad_out, input))
    first, second = (
        t.array().astype(np.float64).reshape(-1, 1) for t in (given[2:] if train else given[:2]) if t is not None
    )

    def computed() -> tuple[Array | None, ...]:
        rstd = second if train else 1 / np.sqrt(second + eps)
        factor = rstd * plain.parameter(weight, kind, 1.0)
        return channel_gradients(grad, x, Statistics(first, rstd), factor, train, output_mask)

    return plain.finished(quietly(computed), results, out)


def channel_gradients(
    grad: Array, x: Array, given: Statistics, factor: Array, train: bool, wanted: Sequence[bool]
) -> tuple[Array | None, ...]:
    """Two sums of each channel, then the gradient of the input, which is made of `grad`, x and a constant."""
    mean, rstd = given
    near, ones, count = mean.astype(x.dtype), np.ones(x.shape[2], x.dtype), x.size // x.shape[1]

    def sums(samples: slice) -> tuple[Array, Array]:
        slopes = grad[samples]
        alone = np.add.reduce(np.vecdot(slopes, ones), 0, np.float64)
        return alone, np.add.reduce(np.vecdot(slopes, x[samples] - near), 0, np.float64)

    of_bias, along = (added(blocks)[:, None] for blocks in zip(*in_blocks(sums, len(x), x.size), strict=True))
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
