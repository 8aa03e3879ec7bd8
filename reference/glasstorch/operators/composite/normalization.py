"""How are the functions of normalization composed of other operators?

Mirrors: aten/src/ATen/native/Normalization.cpp (batch_norm, instance_norm), layer_norm.cpp (layer_norm,
    rms_norm_composite), group_norm.cpp (group_norm), WeightNorm.cpp (norm_except_dim, _weight_norm,
    _weight_norm_differentiable_backward)
Differs: there is one library to choose; functional forms copy the running statistics here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import bfloat16, float16, float32, float64, uint8
from glasstorch.core.errors import ArgumentError, DeviceError, not_implemented_for
from glasstorch.core.type_info import finfo
from glasstorch.core.user_line import warn_user
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.normalization import (
    channels_of,
    check_channels,
    check_groups,
    check_last_dimensions,
    check_saved,
)
from glasstorch.operators.shapes.result import C_NAMES

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

_norm = on_tensor("norm.Scalar")
_norm_over = on_tensor("norm.ScalarOpt_dim")


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
    """The first result of _batch_norm_impl_index."""
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
    """As native_batch_norm, with what cuDNN keeps and the library's number; parameters multiply an empty input."""
    reserve = f.empty(0, dtype=uint8, device=input.device)
    if not input.numel():
        out = input.clone()
        out = out if weight is None else out * weight[0]
        out = out if bias is None else out + bias[0]
        mean, deviation = (f.empty(input._shape[1:2] or (0,), dtype=float64, device=input.device) for _ in range(2))
        return out, mean, deviation, reserve, 0
    check_channels(input, weight, bias, running_mean, running_var, training)
    results = f.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return *results, reserve, 0


def _batch_norm_no_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
) -> tuple[Tensor, ...]:
    """By the running statistics; and what cuDNN keeps for the gradient, of which there is nothing."""
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
    mean, var = running_mean.clone(), running_var.clone()
    return *f._native_batch_norm_legit(input, weight, bias, mean, var, training, momentum, eps), mean, var


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
    mean, var = running_mean.clone(), running_var.clone()
    return *f._batch_norm_with_update(input, weight, bias, mean, var, momentum, eps), mean, var


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
    """A batch_norm in which each image's channels are channels of their own."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise ArgumentError("Expected running_mean and running_var to be defined when use_input_stats is false")
    channels_of(input)
    batch, channels, *rest = input.shape

    def for_each_image(given: Tensor | None) -> Tensor | None:
        return None if given is None else given.repeat(batch)

    mean, var = for_each_image(running_mean), for_each_image(running_var)
    joined = input.contiguous().view(1, batch * channels, *rest)
    parameters = (for_each_image(weight), for_each_image(bias))
    out = f.batch_norm(joined, *parameters, mean, var, use_input_stats, momentum, eps, cudnn_enabled)
    for running, moved in ((running_mean, mean), (running_var, var)):
        if running is not None and moved is not None and input.numel():
            # An alias, so that the version of the running statistic stays.
            f.alias(running).copy_(moved.view(batch, channels).mean(0))
    return out.view(input.shape)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enable: bool,
) -> Tensor:
    """The first result of native_layer_norm."""
    return f.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]  # type: ignore[no-any-return]


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float, cudnn_enabled: bool
) -> Tensor:
    """The first result of native_group_norm."""
    shape = input._shape
    check_groups(shape, num_groups, weight, bias)
    N, C, rest = shape[0], shape[1], prod(shape[2:])
    return f.native_group_norm(input.contiguous(), weight, bias, N, C, rest, num_groups, eps)[0]  # type: ignore[no-any-return]


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None) -> Tensor:
    """The first result of _fused_rms_norm."""
    check_last_dimensions(input, normalized_shape, weight, before="")
    if weight is not None and weight.dtype is not input.dtype:
        names = [C_NAMES[tensor.dtype.name] for tensor in (input, weight)]
        warn_user(
            f"Mismatch dtype between input and weight: input dtype = {names[0]}, weight dtype = {names[1]}, Cannot "
            f"dispatch to fused implementation."
        )
    return f._fused_rms_norm(input, normalized_shape, weight, eps)[0]  # type: ignore[no-any-return]


def _fused_rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """The input divided by the root of its mean square, and one over that root; half precision in float32."""
    check_last_dimensions(input, normalized_shape, weight)
    if not (input.is_floating_point() or input.is_complex()):
        raise not_implemented_for("rms_norm", input.dtype)
    dims = list(range(-len(normalized_shape), 0))
    wide = input.to(float32) if input.dtype in (float16, bfloat16) else input
    eps = finfo(wide.dtype).eps if eps is None else eps
    scale = f.rsqrt(wide.pow(2).mean(dims, keepdim=True).add_(eps))
    out = wide * scale
    return (out if weight is None else out * weight).type_as(input), scale


# Of weights -----------------------------------------------------------------------------------------------------


def norm_except_dim(v: Tensor, pow: int, dim: int) -> Tensor:
    """The norm for each index of one dimension; a dimension in the middle is brought to the front and back."""
    if dim == -1:
        return _norm(v, pow)
    last = v.dim() - 1
    if dim == 0:
        return _norm_over(v.contiguous().view((v.size(0), -1)), pow, [1], False).view((v.size(0), *(1,) * last))
    if dim == last:
        return _norm_over(v.contiguous().view((-1, v.size(last))), pow, [0], False).view((*(1,) * last, v.size(last)))
    return f.norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def _weight_norm(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """One kernel for the first and the last dimension but for float16; otherwise a norm, a quotient and a product."""
    if v.device != g.device:
        raise DeviceError(
            f"weight_norm: expected v_in and g_in to be on the same device, but v_in is on {v.device} and g_in is on "
            f"{g.device}"
        )
    v, g = v.contiguous(), g.contiguous()
    if float16 not in (v.dtype, g.dtype) and dim in (0, v.dim() - 1):
        return f._weight_norm_interface(v, g, dim)[0]  # type: ignore[no-any-return]
    return v * (g / f.norm_except_dim(v, 2, dim))


def _weight_norm_differentiable_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """The gradient of g is that along v divided by the norm; that of v is what is left across v, scaled by g."""
    check_saved(grad_w=grad_w, saved_v=saved_v, saved_g=saved_g, saved_norms=saved_norms)
    last = saved_v.dim() - 1
    if dim not in (0, last):
        raise ArgumentError("Expected dim to be the first or last dimension")
    norms = saved_norms.to(saved_g.dtype)
    size = saved_v.size(dim)
    by_index, over = ((size, -1), 1) if dim == 0 else ((-1, size), 0)
    sizes = (size, *(1,) * last) if dim == 0 else (*(1,) * last, size)
    along = (grad_w * saved_v).view(by_index).sum(over).view(sizes)
    to_v = (saved_g / norms) * (grad_w - saved_v * (along / (norms * norms)))
    return to_v, along / norms
