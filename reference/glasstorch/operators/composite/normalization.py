"""How are batch_norm, instance_norm, layer_norm, group_norm and rms_norm composed of other operators?

Mirrors: aten/src/ATen/native/Normalization.cpp (batch_norm, _batch_norm_impl_index, instance_norm,
    _batch_norm_legit_no_training, _batch_norm_no_update), layer_norm.cpp (layer_norm, rms_norm, rms_norm_composite),
    group_norm.cpp (group_norm)
Differs: there is no cuDNN to choose; the running statistics of functional forms are copied here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from glasstorch.core.dtype import HALF_PRECISION, complex64, complex128, float32, float64, uint8
from glasstorch.core.errors import ArgumentError, not_implemented_for
from glasstorch.core.user_line import warn_user
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.normalization import channels_of, check_channels, check_groups, check_normalized
from glasstorch.operators.shapes.result import C_NAMES

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# batch_norm -----------------------------------------------------------------------------------------------------


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """The normalized input without its statistics."""
    statistics = (running_mean, running_var, training, momentum, eps)
    return f._batch_norm_impl_index(input, weight, bias, *statistics, cudnn_enabled)[0]  # type: ignore[no-any-return]


def _batch_norm_impl_index(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, int]:
    """As native_batch_norm; a batch without elements has no statistics, but parameters still have a gradient."""
    reserve = f.empty(0, dtype=uint8, device=input.device)
    if not input.numel():
        channels = input._shape[1:2] or (0,)
        result = input.clone()
        result = result if weight is None else result * weight[0]
        result = result if bias is None else result + bias[0]
        mean, deviation = (f.empty(channels, dtype=float64, device=input.device) for _ in range(2))
        return result, mean, deviation, reserve, 0
    check_channels(input, weight, bias, running_mean, running_var, training)
    results = f.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return *results, reserve, 0


def _native_batch_norm_legit_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """By the running statistics."""
    return f._native_batch_norm_legit(  # type: ignore[no-any-return]
        input, weight, bias, running_mean, running_var, False, momentum, eps
    )


def _batch_norm_no_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """By the running statistics; the fourth result is what cuDNN would keep, and empty."""
    results = f.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    return *results, f.empty(0, dtype=uint8, device=input.device)


def _native_batch_norm_legit_functional(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """As _native_batch_norm_legit, with the moved statistics as further results."""
    mean, variance = running_mean.clone(), running_var.clone()
    results = f._native_batch_norm_legit(input, weight, bias, mean, variance, training, momentum, eps)
    return *results, mean, variance


def _batch_norm_with_update_functional(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """As _batch_norm_with_update, with the moved statistics as further results."""
    mean, variance = running_mean.clone(), running_var.clone()
    results = f._batch_norm_with_update(input, weight, bias, mean, variance, momentum, eps)
    return *results, mean, variance


# instance_norm --------------------------------------------------------------------------------------------------


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """batch_norm of one sample that has the channels of all; the running statistics move to the mean over samples."""
    running = (running_mean, running_var)
    if not use_input_stats and None in running:
        raise ArgumentError("Expected running_mean and running_var to be defined when use_input_stats is false")
    channels, samples = channels_of(input), input._shape[0]
    row = input.contiguous().view((1, samples * channels, *input._shape[2:]))
    repeated = [None if tensor is None else tensor.repeat(samples) for tensor in (weight, bias, *running)]
    result = f.batch_norm(row, *repeated, use_input_stats, momentum, eps, cudnn_enabled)
    for kept, moved in zip(running, repeated[2:], strict=True):
        if kept is not None and moved is not None:
            f.alias(kept).copy_(moved.view((samples, channels)).mean(0))
    return result.view(input._shape)


# layer_norm and group_norm --------------------------------------------------------------------------------------


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enable: bool,
) -> Tensor:
    """The normalized input without its statistics."""
    return f.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]  # type: ignore[no-any-return]


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float, cudnn_enabled: bool
) -> Tensor:
    """The normalized input without its statistics."""
    channels, samples = channels_of(input), input._shape[0]
    check_groups(input._shape, channels, num_groups, weight, bias)
    places = prod(input._shape[2:])
    results = f.native_group_norm(input.contiguous(), weight, bias, samples, channels, places, num_groups, eps)
    return results[0]  # type: ignore[no-any-return]


# rms_norm -------------------------------------------------------------------------------------------------------


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None) -> Tensor:
    """The input divided by its root mean square over the last dimensions."""
    check_normalized(input, normalized_shape, weight, None, joint="")
    if weight is not None and weight.dtype is not input.dtype:
        found, expected = (C_NAMES[tensor.dtype.name] for tensor in (weight, input))
        warn_user(
            f"Mismatch dtype between input and weight: input dtype = {expected}, weight dtype = {found}, Cannot "
            f"dispatch to fused implementation."
        )
    return f._fused_rms_norm(input, normalized_shape, weight, eps)[0]  # type: ignore[no-any-return]


def _fused_rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """The result, and the inverse of the root mean square. `eps` is the dtype's own unless it is given."""
    computed = float32 if input.dtype in HALF_PRECISION else input.dtype
    if computed not in (float32, float64, complex64, complex128):
        raise not_implemented_for("rms_norm", input.dtype)
    if eps is None:
        eps = float(np.finfo(computed.numpy).eps)
    wide = input.to(computed)
    dims = [-1 - i for i in range(len(normalized_shape))]
    inverse = f.rsqrt(f.pow(wide, 2).mean(dims, True).add_(eps))
    result = wide * inverse
    return (result if weight is None else result * weight).to(input.dtype), inverse
