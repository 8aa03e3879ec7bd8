"""How are tensors normalized on the CPU: over batches, last dimensions, groups of channels, all dimensions but one?

# Note [One normalization]
Each kind takes the mean and the deviation over some axes of an array, and multiplies and adds parameters that differ
along others. The array is viewed with as few dimensions as say this: (N, C, rest) for a batch, (rows, columns) for the
last dimensions, (N, groups, channels, rest) for groups. The same functions then compute all kinds.

Mirrors: aten/src/ATen/native/Normalization.cpp, cpu/batch_norm_kernel.cpp, cpu/layer_norm_kernel.cpp,
    cpu/group_norm_kernel.cpp, WeightNorm.cpp, cpu/WeightNormKernel.cpp
Differs: one set of functions for all kinds; everything is float64 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import HALF_PRECISION, uint8
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Outs, finish_as, structured
from glasstorch.operators.shapes import normalization as shapes

CPU = KernelTable("CPU")


class Kind(NamedTuple):
    """See Note [One normalization]."""

    shape: tuple[int, ...]  # the view of the input
    over: tuple[int, ...]  # the axes of the statistics
    parameters: tuple[int, ...]  # the sizes of the parameters, to be broadcast with the view
    shared: tuple[int, ...]  # the axes along which the parameters are the same


def of_batch(shape: Sequence[int]) -> Kind:
    return Kind((shape[0], shape[1], prod(shape[2:])), (0, 2), (shape[1], 1), (0, 2))


def of_last(shape: Sequence[int], dims: int) -> Kind:
    columns = prod(shape[-dims:])
    return Kind((prod(shape[:-dims]), columns), (1,), (columns,), (0,))


def of_groups(N: int, C: int, rest: int, groups: int) -> Kind:
    channels = C // groups
    return Kind((N, groups, channels, rest), (2, 3), (groups, channels, 1), (0, 3))


def viewed(tensor: Tensor, kind: Kind) -> Array:
    """The elements as float64, in the shape that the kind is computed in."""
    return tensor.array().astype(np.float64).reshape(kind.shape)


def parameter(tensor: Tensor | None, kind: Kind, missing: float) -> Any:
    """A weight or a bias, to be broadcast; a number where there is none."""
    return missing if tensor is None else tensor.array().astype(np.float64).reshape(kind.parameters)


def statistic(tensor: Tensor, kind: Kind) -> Array:
    """A mean or a deviation, to be broadcast."""
    sizes = [1 if axis in kind.over else size for axis, size in enumerate(kind.shape)]
    return tensor.array().astype(np.float64).reshape(sizes)


def moments(x: Array, kind: Kind, eps: float) -> tuple[Array, Array, Array]:
    """The mean, the variance, and one over the standard deviation."""
    count = prod(kind.shape[axis] for axis in kind.over)
    mean = x.sum(kind.over, keepdims=True) / max(count, 1)  # that of nothing is 0, as in PyTorch
    variance = np.square(x - mean).sum(kind.over, keepdims=True) / np.float64(count)
    return mean, variance, 1 / np.sqrt(variance + eps)


@slot
def normalized(
    input: Tensor, kind: Kind, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Array, Array, Array]:
    """The normalized elements, the mean, and one over the deviation."""
    x = viewed(input, kind)
    mean, _, rstd = moments(x, kind, eps)
    return (x - mean) * rstd * parameter(weight, kind, 1.0) + parameter(bias, kind, 0.0), mean, rstd


def to_input(grad: Array, x: Array, mean: Array, rstd: Array, weight: Any, kind: Kind) -> Array:
    """The gradient of the input where the statistics depend on it: what of `grad` changes neither of them."""
    unit, pulled = (x - mean) * rstd, grad * weight
    along = (pulled * unit).mean(kind.over, keepdims=True)
    return rstd * (pulled - pulled.mean(kind.over, keepdims=True) - unit * along)  # type: ignore[no-any-return]


def to_parameters(grad: Array, x: Array, mean: Array, rstd: Array, kind: Kind) -> tuple[Array, Array]:
    """The gradients of weight and bias."""
    return (grad * (x - mean) * rstd).sum(kind.shared), grad.sum(kind.shared)


def finished(found: Sequence[Any], results: Sequence[Any], out: Outs) -> tuple[Any, ...]:
    """Each array as a tensor of the shape and dtype that its result says, or written into `out`."""
    outs = out or (None,) * len(results)
    return tuple(
        result and finish_as(result, np.reshape(array, result.shape), one)
        for array, result, one in zip(found, results, outs, strict=True)
    )


@slot
def gradients(
    grad_out: Tensor,
    input: Tensor,
    mean: Any,
    rstd: Any,
    weight: Tensor | None,
    kind: Kind,
    results: Sequence[Any],
    out: Outs,
    fixed: bool = False,
) -> tuple[Any, ...]:
    """The gradients that the results ask for; with `fixed` statistics that do not depend on the input."""
    grad, x = viewed(grad_out, kind), viewed(input, kind)
    scale = parameter(weight, kind, 1.0)
    of_input: Any = None
    if results[0]:
        of_input = grad * scale * rstd if fixed else quietly(to_input, grad, x, mean, rstd, scale, kind)
    of_weight, of_bias = to_parameters(grad, x, mean, rstd, kind) if results[1] or results[2] else (None, None)
    return finished((of_input, of_weight, of_bias), results, out)


# Over batches ---------------------------------------------------------------------------------------------------


@structured(CPU, "native_batch_norm")
@structured(CPU, "_native_batch_norm_legit")
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
    """Normalize each channel, by its own statistics in training, which also move the running ones, else by those."""
    given = (weight, bias, running_mean, running_var)
    results = shapes.native_batch_norm(input, *given, training, momentum, eps)
    if training:
        mean, variance = quietly(channel_moments.run, input)
        move_statistics(input, running_mean, running_var, mean, variance, momentum)
    else:
        assert running_mean is not None
        assert running_var is not None
        mean, variance = (statistic(running, of_batch(input._shape)) for running in (running_mean, running_var))
    rstd = quietly(lambda: 1 / np.sqrt(variance + eps))
    if results[1].dtype in HALF_PRECISION and training:  # PyTorch normalizes by the statistics that it returns
        mean, rstd = (array.astype(results[1].dtype.numpy).astype(np.float64) for array in (mean, rstd))
    y = quietly(by_channels.run, input, mean, rstd, weight, bias)
    return finished((y, mean, rstd) if training else (y, np.zeros(0), np.zeros(0)), results, out)


@slot
def channel_moments(input: Tensor) -> tuple[Array, Array]:
    """The mean and the variance of each channel, in float64."""
    kind = of_batch(input._shape)
    mean, variance, _ = moments(viewed(input, kind), kind, 0.0)
    return mean, variance


@slot
def by_channels(input: Tensor, mean: Array, rstd: Array, weight: Tensor | None, bias: Tensor | None) -> Array:
    """Each channel, normalized by its mean and one over its deviation."""
    kind = of_batch(input._shape)
    return (viewed(input, kind) - mean) * rstd * parameter(weight, kind, 1.0) + parameter(bias, kind, 0.0)  # type: ignore[no-any-return]


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
    """In training; and what cuDNN keeps for the gradient, of which there is nothing."""
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
    """The mean and the variance of each channel, towards which the running ones move."""
    results = shapes.batch_norm_update_stats(input, running_mean, running_var, momentum)
    mean, variance = quietly(channel_moments.run, input)
    move_statistics(input, running_mean, running_var, mean, variance, momentum)
    return finished((mean, variance), results, out)


def move_statistics(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    mean: Array,
    variance: Array,
    momentum: float,
) -> None:
    """Move the running statistics towards this batch's mean, and the variance that it makes likely for all."""
    count = np.float64(input.numel() // max(1, input._shape[1]))
    quietly(_move, running_mean, mean, momentum)
    quietly(lambda: _move(running_var, variance * (count / (count - 1)), momentum))


def _move(running: Tensor | None, towards: Array, momentum: float) -> None:
    """A running statistic, moved in place towards one of this batch; its version stays, as in PyTorch."""
    if running is not None:
        array = running.array()
        array[...] = momentum * towards.reshape(array.shape) + (1 - momentum) * array.astype(np.float64)


@structured(CPU, "_native_batch_norm_legit.no_stats")
def native_batch_norm_no_stats(
    keys: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """Without running statistics."""
    return native_batch_norm(keys, input, weight, bias, None, None, training, momentum, eps, out)


@structured(CPU, "_native_batch_norm_legit_no_training")
def native_batch_norm_no_training(
    keys: int,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
    out: Outs = None,
) -> tuple[Any, ...]:
    """By the running statistics."""
    return native_batch_norm(keys, input, weight, bias, running_mean, running_var, False, momentum, eps, out)


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
    out: Outs = None,
) -> tuple[Any, ...]:
    """The gradients of input, weight and bias."""
    given = (running_mean, running_var, save_mean, save_invstd)
    results = shapes.native_batch_norm_backward(grad_out, input, weight, *given, train, eps, output_mask)
    kind = of_batch(input._shape)
    if train:
        assert save_mean is not None
        assert save_invstd is not None
        mean, rstd = statistic(save_mean, kind), statistic(save_invstd, kind)
    else:
        assert running_mean is not None
        assert running_var is not None
        mean, rstd = statistic(running_mean, kind), 1 / np.sqrt(statistic(running_var, kind) + eps)
    return gradients.run(grad_out, input, mean, rstd, weight, kind, results, out, not train)


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
) -> tuple[Any, ...]:
    """As native_batch_norm_backward; `reserve` is what cuDNN keeps."""
    given = (running_mean, running_var, save_mean, save_var)
    return native_batch_norm_backward(keys, grad_out, input, weight, *given, update, eps, output_mask)


# Over the last dimensions ---------------------------------------------------------------------------------------


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
    """Normalize the last dimensions, for each index of the others."""
    results = shapes.native_layer_norm(input, normalized_shape, weight, bias, eps)
    kind = of_last(input._shape, len(normalized_shape))
    return finished(quietly(normalized.run, input, kind, weight, bias, eps), results, out)


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
    out: Outs = None,
) -> tuple[Any, ...]:
    """The gradients of input, weight and bias."""
    results = shapes.native_layer_norm_backward(
        grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
    )
    kind = of_last(input._shape, len(normalized_shape))
    return gradients.run(grad_out, input, statistic(mean, kind), statistic(rstd, kind), weight, kind, results, out)


# Over groups of channels ----------------------------------------------------------------------------------------


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
    """Normalize each group of channels of each image."""
    results = shapes.native_group_norm(input, weight, bias, N, C, HxW, group, eps)
    kind = of_groups(N, C, HxW, group)
    return finished(quietly(normalized.run, input, kind, weight, bias, eps), results, out)


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
    out: Outs = None,
) -> tuple[Any, ...]:
    """The gradients of input, weight and bias."""
    results = shapes.native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)
    kind = of_groups(N, C, HxW, group)
    return gradients.run(grad_out, input, statistic(mean, kind), statistic(rstd, kind), weight, kind, results, out)


# Of weights -----------------------------------------------------------------------------------------------------


def by_index(tensor: Tensor, dim: int) -> tuple[Array, int]:
    """The elements as a float64 matrix with this dimension, the first or the last, as one axis; and the other axis."""
    array = tensor.array().astype(np.float64)
    size = tensor._shape[dim]
    rest = prod(tensor._shape[1:] if dim == 0 else tensor._shape[:-1])
    return (array.reshape(size, rest), 1) if dim == 0 else (array.reshape(rest, size), 0)


def for_each(tensor: Tensor, other: int) -> Array:
    """One number for each index, to be broadcast with the matrix of `by_index`."""
    return np.expand_dims(tensor.array().astype(np.float64).reshape(-1), other)


@structured(CPU, "_weight_norm_interface")
def _weight_norm_interface(keys: int, v: Tensor, g: Tensor, dim: int = 0, out: Outs = None) -> tuple[Any, ...]:
    """The vector of each index as long as its g says; and how long the vectors were."""
    results = shapes._weight_norm_interface(v, g, dim)
    matrix, other = by_index(v, dim)

    def scaled() -> tuple[Array, Array]:
        norms = np.sqrt(np.square(matrix).sum(other, keepdims=True))
        return matrix * (for_each(g, other) / norms), norms

    return finished(quietly(scaled), results, out)


@structured(CPU, "_weight_norm_interface_backward")
def _weight_norm_interface_backward(
    keys: int, grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int, out: Outs = None
) -> tuple[Any, ...]:
    """The gradient of g is that along v divided by the norm; that of v is what is left across v, scaled by g."""
    results = shapes._weight_norm_interface_backward(grad_w, saved_v, saved_g, saved_norms, dim)
    (grad, other), (v, _) = by_index(grad_w, dim), by_index(saved_v, dim)
    norms, g = for_each(saved_norms, other), for_each(saved_g, other)

    def gradients() -> tuple[Array, Array]:
        to_g = (grad * v).sum(other, keepdims=True) / norms
        return g / norms * (grad - v * (to_g / norms)), to_g

    return finished(quietly(gradients), results, out)
