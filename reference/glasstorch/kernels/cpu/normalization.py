"""How are normalizations and their gradients computed on the CPU?

All normalize alike: elements that are normalized together lie along some dimensions of an array, `dims`, over which
statistics have size 1. Only the view of the input differs, and so do the dimensions.

Mirrors: aten/src/ATen/native/Normalization.cpp, cpu/batch_norm_kernel.cpp, cpu/layer_norm_kernel.cpp,
    cpu/group_norm_kernel.cpp
Differs: one formula for all; everything is computed in float64 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import uint8
from glasstorch.core.geometry import Shape
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish, structured
from glasstorch.operators.shapes import normalization as shapes
from glasstorch.operators.shapes.normalization import Gradients

CPU = KernelTable("CPU")

Outs = Sequence[Tensor] | None
Wanted = Sequence[bool]  # whether the gradients of input, weight and bias are

# The formulas ---------------------------------------------------------------------------------------------------


def wide(array: Any) -> Any:
    """The elements in float64; None for None."""
    return None if array is None else array.astype(np.float64)


def elements(tensor: Tensor | None, shape: Shape) -> Any:
    """A tensor's elements with other sizes; None for no tensor."""
    return None if tensor is None else tensor.array().reshape(shape)


def moments(x: Array, dims: Shape) -> tuple[Array, Array]:
    """Mean and variance over dimensions, which keep size 1. The mean of nothing is 0, its variance NaN."""
    count = np.prod([x.shape[dim] for dim in dims])
    mean = np.add.reduce(x, dims, keepdims=True) / max(count, 1)
    return mean, np.add.reduce(np.square(x - mean), dims, keepdims=True) / count


def inverse_deviation(variance: Array, eps: float) -> Array:
    """1 / sqrt(variance + eps)"""
    return 1 / np.sqrt(variance + eps)


def standardized(x: Array, mean: Array, rstd: Array) -> Array:
    """The distances from the mean, in deviations."""
    return (x - mean) * rstd


def scaled(x: Array, weight: Array | None, bias: Array | None) -> Array:
    """`x * weight + bias`, each if it is there."""
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


def gradient_of_standardized(grad: Array, x: Array, rstd: Array, dims: Shape) -> Array:
    """The gradient of `standardized` with respect to its input, from which mean and deviation were computed too.

    `x` is the standardized input. What is common to all elements is lost in the mean, and what is in proportion to
    them in the deviation: both are taken out of the gradient.
    """
    mean = partial(np.mean, axis=dims, keepdims=True)
    return (grad - mean(grad) - x * mean(grad * x)) * rstd  # type: ignore[no-any-return]


def gradients(
    grad: Array, x: Array, rstd: Array, weight: Array | None, dims: Shape | None, shared: Shape, wanted: Wanted
) -> tuple[Array | None, ...]:
    """The gradients of input, weight and bias, those that are wanted.

    `x` is the standardized input; `dims` is None where mean and deviation are constants. Weight and bias are shared
    along the dimensions `shared`.
    """
    of_input = None
    if wanted[0]:
        weighted = scaled(grad, weight, None)
        of_input = weighted * rstd if dims is None else gradient_of_standardized(weighted, x, rstd, dims)
    of_weight = np.add.reduce(grad * x, shared) if wanted[1] else None
    return of_input, of_weight, np.add.reduce(grad, shared) if wanted[2] else None


def finished(name: str, arrays: Sequence[Array | None], results: Gradients, outs: Outs = None) -> tuple[Any, ...]:
    """Computed arrays as the tensors that the shape function says, or written into `outs`."""
    pairs = zip(arrays, results, outs or (None,) * len(results), strict=True)
    return named_result(
        name, (None if a is None or r is None else finish(a.reshape(r.shape), r.dtype, out) for a, r, out in pairs)
    )


# batch_norm -----------------------------------------------------------------------------------------------------


EACH_CHANNEL = (1, -1, 1)  # sizes of statistics, weight and bias
OF_CHANNEL = (0, 2)  # dimensions of (sample, channel, place)


def channels(input: Tensor) -> Array:
    """The elements as (sample, channel, place)."""
    samples, count, *places = input._shape
    return input.array().reshape(samples, count, math.prod(places))


@slot
def channel_moments(x: Array) -> tuple[Array, Array]:
    """The mean and the variance of each channel of (sample, channel, place), in float64."""
    return moments(wide(x), OF_CHANNEL)


@slot
def normalized_channels(x: Array, mean: Array, rstd: Array, weight: Array | None, bias: Array | None) -> Array:
    """Each channel by its mean and inverse deviation, scaled and moved."""
    return scaled(standardized(wide(x), mean, rstd), wide(weight), wide(bias))


@slot
def channel_gradients(
    grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, train: bool, wanted: Wanted
) -> tuple[Array | None, ...]:
    """The gradients of input, weight and bias; outside of training, statistics are constants."""
    standard = standardized(wide(x), mean, rstd)
    return gradients(wide(grad), standard, rstd, wide(weight), OF_CHANNEL if train else None, OF_CHANNEL, wanted)


def updated_statistics(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Array, Array]:
    """Each channel's mean and variance, towards which the running ones are moved."""
    mean, variance = channel_moments.run(channels(input))
    count = input.numel() // max(input._shape[1], 1)
    # The variance of all samples to come is estimated, which is larger than that of these.
    for running, now in ((running_mean, mean), (running_var, variance * count / np.subtract(count, 1))):
        if running is not None:
            before = wide(running.array())
            running.array()[...] = momentum * now.reshape(before.shape) + (1 - momentum) * before
    return mean, variance


@structured(CPU, "_native_batch_norm_legit")
@structured(CPU, "native_batch_norm")
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
    """By the batch's mean and deviation in training, which move the running ones; else by the running ones."""
    arguments = (weight, bias, running_mean, running_var, training, momentum, eps)
    results = shapes.native_batch_norm(input, *arguments)

    def computed() -> tuple[Array, ...]:
        if training:
            mean, variance = updated_statistics(input, running_mean, running_var, momentum)
        else:
            mean, variance = (wide(elements(t, EACH_CHANNEL)) for t in (running_mean, running_var))
        rstd = inverse_deviation(variance, eps)
        if training:  # computed with the statistics that are returned, as they are rounded
            mean, rstd = (wide(array.astype(results[1].dtype.numpy)) for array in (mean, rstd))
        parameters = (elements(t, EACH_CHANNEL) for t in (weight, bias))
        y = normalized_channels.run(channels(input), mean, rstd, *parameters)
        return (y, mean, rstd) if training else (y, np.empty(0), np.empty(0))

    return finished("native_batch_norm", quietly(computed), results, out)


@structured(CPU, "_native_batch_norm_legit.no_stats")
def native_batch_norm_without_statistics(
    keys: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """As native_batch_norm, without running statistics."""
    return native_batch_norm(keys, input, weight, bias, None, None, training, momentum, eps, out)


@CPU.impl("_batch_norm_with_update")
def batch_norm_with_update(
    keys: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    """As native_batch_norm in training; the fourth result is what cuDNN would keep, and empty."""
    results = native_batch_norm(keys, input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *results, wrap(np.empty(0, np.uint8), uint8)


@structured(CPU, "batch_norm_update_stats")
def batch_norm_update_stats(
    keys: int,
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """Each channel's mean and variance, towards which the running ones are moved."""
    results = shapes.batch_norm_update_stats(input, running_mean, running_var, momentum)
    statistics = quietly(updated_statistics, input, running_mean, running_var, momentum)
    return finished("batch_norm_update_stats", statistics, results, out)


@structured(CPU, "native_batch_norm_backward")
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
) -> tuple[Tensor | None, ...]:
    """The gradients of input, weight and bias; None for one that the mask leaves out."""
    used = (running_mean, running_var, save_mean, save_invstd)
    results = shapes.native_batch_norm_backward(grad_out, input, weight, *used, train, eps, output_mask)

    def computed() -> tuple[Array | None, ...]:
        given = (save_mean, save_invstd) if train else (running_mean, running_var)
        mean, rstd = (wide(elements(t, EACH_CHANNEL)) for t in given)
        if not train:
            rstd = inverse_deviation(rstd, eps)
        scale = elements(weight, EACH_CHANNEL)
        return channel_gradients.run(channels(grad_out), channels(input), mean, rstd, scale, train, output_mask)

    return finished("native_batch_norm_backward", quietly(computed), results)


@structured(CPU, "batch_norm_backward")
def batch_norm_backward(
    keys: int,
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_var: Tensor | None,
    update: bool,
    eps: float,
    output_mask: Sequence[bool],
    reserve: Tensor,
) -> tuple[Tensor | None, ...]:
    """As native_batch_norm_backward; `reserve` is what cuDNN keeps."""
    used = (running_mean, running_var, save_mean, save_var)
    return native_batch_norm_backward(keys, grad_out, input, weight, *used, update, eps, output_mask)


# layer_norm -----------------------------------------------------------------------------------------------------


@slot
def normalized_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    """Each row with mean 0 and variance 1, scaled and moved; and these means and inverse deviations."""
    x = wide(x)
    mean, variance = moments(x, (1,))
    rstd = inverse_deviation(variance, eps)
    return scaled(standardized(x, mean, rstd), wide(weight), wide(bias)), mean, rstd


@slot
def row_gradients(
    grad: Array, x: Array, mean: Array, rstd: Array, weight: Array | None, wanted: Wanted
) -> tuple[Array | None, ...]:
    """The gradients of input, weight and bias."""
    rstd = wide(rstd)
    standard = standardized(wide(x), wide(mean), rstd)
    return gradients(wide(grad), standard, rstd, wide(weight), (1,), (0,), wanted)


def rows(tensor: Tensor, normalized_shape: Sequence[int]) -> Array:
    """The elements as a matrix whose rows are normalized."""
    count = math.prod(tensor._shape[: -len(normalized_shape)])
    return tensor.array().reshape(count, math.prod(normalized_shape))


@structured(CPU, "native_layer_norm")
def native_layer_norm(
    keys: int,
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """Over the last dimensions."""
    results = shapes.native_layer_norm(input, normalized_shape, weight, bias, eps)
    parameters = (elements(t, (-1,)) for t in (weight, bias))
    computed = quietly(normalized_rows.run, rows(input, normalized_shape), *parameters, eps)
    return finished("native_layer_norm", computed, results, out)


@structured(CPU, "native_layer_norm_backward")
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
) -> tuple[Tensor | None, ...]:
    """The gradients of input, weight and bias; None for one that the mask leaves out."""
    arguments = (normalized_shape, mean, rstd, weight, bias, output_mask)
    results = shapes.native_layer_norm_backward(grad_out, input, *arguments)
    matrices = (rows(t, normalized_shape) for t in (grad_out, input))
    columns = (elements(t, (-1, 1)) for t in (mean, rstd))
    computed = quietly(row_gradients.run, *matrices, *columns, elements(weight, (-1,)), output_mask)
    return finished("native_layer_norm_backward", computed, results)


# group_norm -----------------------------------------------------------------------------------------------------

WITHIN_GROUP = (2, 3)  # of (sample, group, channel of the group, place)


def grouped(N: int, C: int, HxW: int, group: int) -> tuple[Shape, Shape, Shape]:
    """The sizes of the input, of statistics of each group, and of weight and bias."""
    return (N, group, C // group, HxW), (N, group, 1, 1), (1, group, C // group, 1)


@structured(CPU, "native_group_norm")
def native_group_norm(
    keys: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """Over the channels of each group, in each sample."""
    results = shapes.native_group_norm(input, weight, bias, N, C, HxW, group, eps)
    sizes, _, each_channel = grouped(N, C, HxW, group)

    def computed() -> tuple[Array, ...]:
        x = wide(elements(input, sizes))
        mean, variance = moments(x, WITHIN_GROUP)
        rstd = inverse_deviation(variance, eps)
        scale, shift = (wide(elements(t, each_channel)) for t in (weight, bias))
        return scaled(standardized(x, mean, rstd), scale, shift), mean, rstd

    return finished("native_group_norm", quietly(computed), results, out)


@structured(CPU, "native_group_norm_backward")
def native_group_norm_backward(
    keys: int,
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """The gradients of input, weight and bias; None for one that the mask leaves out."""
    results = shapes.native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)
    sizes, each_group, each_channel = grouped(N, C, HxW, group)

    def computed() -> tuple[Array | None, ...]:
        deviation, scale = wide(elements(rstd, each_group)), wide(elements(weight, each_channel))
        x = standardized(wide(elements(input, sizes)), wide(elements(mean, each_group)), deviation)
        return gradients(wide(elements(grad_out, sizes)), x, deviation, scale, WITHIN_GROUP, (0, 3), output_mask)

    return finished("native_group_norm_backward", quietly(computed), results)
