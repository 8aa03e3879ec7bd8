"""How are normalizations and their gradients computed on the CPU?

All normalize alike: elements that are normalized together lie along some dimensions of an array, `dims`, over which
statistics have size 1. Only the view of the input differs, and so do the dimensions.

Mirrors: aten/src/ATen/native/Normalization.cpp, cpu/batch_norm_kernel.cpp, cpu/layer_norm_kernel.cpp,
    cpu/group_norm_kernel.cpp
Differs: one formula for all; everything is computed in float64 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import uint8
from glasstorch.core.geometry import Shape
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import finish, structured
from glasstorch.operators.shapes import normalization as shapes
from glasstorch.operators.shapes.normalization import Gradients, Results

CPU = KernelTable("CPU")

Outs = Sequence[Tensor] | None

# The formulas ---------------------------------------------------------------------------------------------------


def wide(tensor: Tensor | None, shape: Shape | None = None) -> Any:
    """The elements in float64, with other sizes if they are given; None for no tensor."""
    if tensor is None:
        return None
    array = tensor.array().astype(np.float64)
    return array if shape is None else array.reshape(shape)


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


def finished(name: str, arrays: Sequence[Array], results: Results, outs: Outs = None) -> tuple[Any, ...]:
    """Computed arrays as the tensors that the shape function says, or written into `outs`."""
    pairs = zip(arrays, results, outs or (None,) * len(results), strict=True)
    return named_result(name, (finish(a.reshape(r.shape), r.dtype, out) for a, r, out in pairs))


def gradients(
    grad: Array, x: Array, weight: Array | None, rstd: Array, dims: Shape | None, shared: Shape, results: Gradients
) -> tuple[Tensor | None, ...]:
    """The gradients of input, weight and bias, those that have a result.

    `x` is the standardized input; `dims` is None where mean and deviation are constants. Weight and bias are shared
    along the dimensions `shared`.
    """
    to_input, to_weight, to_bias = results

    def of_input() -> Array:
        scaled_grad = scaled(grad, weight, None)
        return scaled_grad * rstd if dims is None else gradient_of_standardized(scaled_grad, x, rstd, dims)

    computed = (
        of_input() if to_input else grad,
        np.add.reduce(grad * x, shared) if to_weight else grad,
        np.add.reduce(grad, shared) if to_bias else grad,
    )
    return tuple(
        None if result is None else finish(array.reshape(result.shape), result.dtype, None)
        for array, result in zip(computed, results, strict=True)
    )


# batch_norm -----------------------------------------------------------------------------------------------------


def channelwise(input: Tensor) -> tuple[Shape, Shape]:
    """The dimensions other than that of the channels, and the sizes of statistics of each channel."""
    sizes = input._shape
    return (0, *range(2, len(sizes))), (1, sizes[1], *(1,) * (len(sizes) - 2))


def updated_statistics(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Array, Array, Array]:
    """The elements, and each channel's mean and variance, towards which the running ones are moved."""
    x, (dims, _) = wide(input), channelwise(input)
    mean, variance = moments(x, dims)
    count = input.numel() // max(input._shape[1], 1)
    # The variance of all samples to come is estimated, which is larger than that of these.
    for running, now in ((running_mean, mean), (running_var, variance * count / np.subtract(count, 1))):
        if running is not None:
            running.array()[...] = momentum * now.reshape(running._shape) + (1 - momentum) * wide(running)
    return x, mean, variance


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
    _, sizes = channelwise(input)

    def computed() -> tuple[Array, ...]:
        if training:
            x, mean, variance = updated_statistics(input, running_mean, running_var, momentum)
        else:
            x, mean, variance = wide(input), wide(running_mean, sizes), wide(running_var, sizes)
        rstd = inverse_deviation(variance, eps)
        if training:  # computed with the statistics that are returned, as they are rounded
            mean, rstd = (array.astype(results[1].dtype.numpy).astype(np.float64) for array in (mean, rstd))
        y = scaled(standardized(x, mean, rstd), wide(weight, sizes), wide(bias, sizes))
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
    _, mean, variance = quietly(updated_statistics, input, running_mean, running_var, momentum)
    return finished("batch_norm_update_stats", (mean, variance), results, out)


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
    dims, sizes = channelwise(input)

    def computed() -> tuple[Tensor | None, ...]:
        if train:
            mean, rstd = wide(save_mean, sizes), wide(save_invstd, sizes)
        else:
            mean, rstd = wide(running_mean, sizes), inverse_deviation(wide(running_var, sizes), eps)
        x = standardized(wide(input), mean, rstd)
        return gradients(wide(grad_out), x, wide(weight, sizes), rstd, dims if train else None, dims, results)

    return quietly(computed)


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


def rows(input: Tensor, normalized_shape: Sequence[int]) -> tuple[Shape, Shape]:
    """The sizes of a matrix whose rows are normalized, and of a vector of statistics."""
    count = int(np.prod(input._shape[: -len(normalized_shape)]))
    return (count, int(np.prod(normalized_shape))), (count, 1)


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
    sizes, _ = rows(input, normalized_shape)

    def computed() -> tuple[Array, ...]:
        x = wide(input, sizes)
        mean, variance = moments(x, (1,))
        rstd = inverse_deviation(variance, eps)
        return scaled(standardized(x, mean, rstd), wide(weight, (-1,)), wide(bias, (-1,))), mean, rstd

    return finished("native_layer_norm", quietly(computed), results, out)


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
    sizes, column = rows(input, normalized_shape)

    def computed() -> tuple[Tensor | None, ...]:
        x = standardized(wide(input, sizes), wide(mean, column), wide(rstd, column))
        return gradients(wide(grad_out, sizes), x, wide(weight, (-1,)), wide(rstd, column), (1,), (0,), results)

    return quietly(computed)


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
        x = wide(input, sizes)
        mean, variance = moments(x, WITHIN_GROUP)
        rstd = inverse_deviation(variance, eps)
        return scaled(standardized(x, mean, rstd), wide(weight, each_channel), wide(bias, each_channel)), mean, rstd

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

    def computed() -> tuple[Tensor | None, ...]:
        scale = wide(rstd, each_group)
        x = standardized(wide(input, sizes), wide(mean, each_group), scale)
        return gradients(wide(grad_out, sizes), x, wide(weight, each_channel), scale, WITHIN_GROUP, (0, 3), results)

    return quietly(computed)
