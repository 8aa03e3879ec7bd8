"""Of what are the normalization of batches and its gradient made?

Mirrors: torch/_decomp/decompositions.py (native_batch_norm_helper, native_batch_norm, native_batch_norm_backward)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, wide, with_rank
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.dtype import uint8
from glasstorch.operators.generated import functions as f

Mask = Sequence[bool]


def _batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """The result, what its gradient needs, and the moved statistics."""
    dims = [0, *range(2, input.dim())]
    x = wide(input)
    if training:
        var, mean = f.var_mean(x, dims, correction=0, keepdim=True)
        scale = f.rsqrt(var + eps)
        out = (x - mean) * scale
        kept_mean, kept_scale = f.squeeze(mean, dims), f.squeeze(scale, dims)
        if running_mean is not None:
            moved = momentum * kept_mean + (1 - momentum) * running_mean
            running_mean = cast(moved, running_mean.dtype)
        if running_var is not None:
            count = input.numel() / input.shape[1]
            unbiased = f.squeeze(var, dims) * (count / (count - 1) if count > 1 else float("nan"))
            moved = momentum * unbiased + (1 - momentum) * running_var
            running_var = cast(moved, running_var.dtype)
    else:
        assert running_mean is not None, "checked by the shape function"
        assert running_var is not None, "checked by the shape function"
        mean = wide(running_mean)
        scale = f.rsqrt(wide(running_var) + eps)
        out = (x - _by_channel(mean, x)) * _by_channel(scale, x)
        if input.device.type == "cpu":
            kept_mean, kept_scale = input.new_zeros((0,)), input.new_zeros((0,))
        else:
            kept_mean, kept_scale = mean, scale
    out = out if weight is None else out * _by_channel(weight.flatten(), x)
    out = out if bias is None else out + _by_channel(bias.flatten(), x)
    if input.device.type == "cpu":
        given = next((one for one in (weight, bias, running_mean, running_var) if one is not None), input)
        kept_mean, kept_scale = cast(kept_mean, given.dtype), cast(kept_scale, given.dtype)
    return cast(out, input.dtype), kept_mean, kept_scale, running_mean, running_var


def _by_channel(values: Tensor, x: Tensor) -> Tensor:
    return with_rank(values, x.dim() - 1)


@decomposes("_native_batch_norm_legit.no_stats", core=False)
def without_statistics(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """By the statistics of the batch, which are not kept."""
    return _batch_norm(input, weight, bias, None, None, training, momentum, eps)[:3]


@decomposes("_native_batch_norm_legit_no_training", core=False)
def without_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """By the running statistics."""
    return _batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[:3]


@decomposes("_native_batch_norm_legit_functional", core=False)
def functional(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    """With the moved statistics as further results."""
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@decomposes("native_batch_norm", "_native_batch_norm_legit", core=False)
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """With the statistics moved in place."""
    out, mean, scale, moved_mean, moved_var = _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if training and running_mean is not None and moved_mean is not None:
        running_mean.copy_(moved_mean)
    if training and running_var is not None and moved_var is not None:
        running_var.copy_(moved_var)
    return out, mean, scale


@decomposes("_batch_norm_with_update_functional", core=False)
def with_update_functional(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    """In training, with what cuDNN keeps, which is nothing, and the moved statistics."""
    *found, mean, var = _batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return (*found, f.empty((0,), dtype=uint8, device=input.device), mean, var)


@decomposes("native_batch_norm_backward")
def native_batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    output_mask: Mask,
) -> tuple[Any, ...]:
    """The gradients of input, weight and bias."""
    weight_dtype = input.dtype if weight is None else weight.dtype
    grad, x = wide(grad_out), wide(input)
    dims = [0, *range(2, x.dim())]
    count = x.numel() / x.shape[1]
    if train:
        assert save_mean is not None, "it is what the forward pass gave"
        assert save_invstd is not None, "it is what the forward pass gave"
        mean, scale = wide(save_mean), wide(save_invstd)
    else:
        assert running_mean is not None, "checked by the kernel"
        assert running_var is not None, "checked by the kernel"
        mean, scale = wide(running_mean), f.rsqrt(wide(running_var) + eps)
    centred = x - _by_channel(mean, x).unsqueeze(0)
    level = f.sum(grad, dims)
    along = f.sum(grad * centred, dims)
    gain = scale if weight is None else scale * wide(weight)
    if train:
        slope = _by_channel(along * (1.0 / count) * (scale * scale), x).unsqueeze(0)
        shift = _by_channel(level * (1.0 / count), x).unsqueeze(0)
        of_input = (grad - centred * slope - shift) * _by_channel(gain, x).unsqueeze(0)
    else:
        of_input = grad * _by_channel(gain, x).unsqueeze(0)
    of_weight = cast(along * scale, weight_dtype) if output_mask[1] else None
    of_bias = cast(level, weight_dtype) if output_mask[2] else None
    return cast(of_input, input.dtype) if output_mask[0] else None, of_weight, of_bias
