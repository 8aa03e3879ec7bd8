"""Of what are the normalizations of layers, groups and weights, and their gradients made?

Mirrors: torch/_decomp/decompositions.py (native_layer_norm_backward, native_group_norm, native_group_norm_backward,
    _weight_norm_interface), torch/_refs/__init__.py (native_layer_norm)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, wide, with_rank
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.dtype import HALF_PRECISION
from glasstorch.operators.generated import functions as f

Mask = Sequence[bool]


def _normalized(x: Tensor, dims: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """The elements minus their mean, over the root of their variance; the mean; one over that root."""
    var, mean = f.var_mean(x, dims, correction=0, keepdim=True)
    scale = f.rsqrt(var + eps)
    return (x - mean) * scale, mean, scale


# Layers ---------------------------------------------------------------------------------------------------------


@decomposes("native_layer_norm", core=False)
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Each example is normalized over its last dimensions."""
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    x = wide(input).contiguous()
    out, mean, scale = _normalized(x, dims, eps)
    out = out if weight is None else out * weight
    out = out if bias is None else out + bias
    statistics = (weight if weight is not None else input).dtype if input.dtype in HALF_PRECISION else input.dtype
    return cast(out, input.dtype), cast(mean, statistics), cast(scale, statistics)


@decomposes("native_layer_norm_backward")
def native_layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Mask,
) -> tuple[Any, ...]:
    """The gradients of input, weight and bias."""
    outer = list(range(input.dim() - len(normalized_shape)))
    inner = list(range(len(outer), input.dim()))
    count = prod(input.shape[len(outer) :])
    if prod(input.shape[: len(outer)]) == 0 or count == 0:
        empty = [f.full(sizes, 0, dtype=input.dtype, device=input.device) for sizes in (input.shape, normalized_shape)]
        made = (empty[0], empty[1], empty[1])
        return tuple(one if wanted else None for one, wanted in zip(made, output_mask, strict=True))
    grad, x = wide(grad_out), wide(input)
    x_hat = (x - with_rank(wide(mean), x.dim())) * with_rank(wide(rstd), x.dim())
    grad_hat = grad if weight is None else grad * wide(weight)
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        level = f.sum(grad_hat, inner, True)
        along = f.sum(grad_hat * x_hat, inner, True)
        found[0] = with_rank(wide(rstd), x.dim()) / count * (grad_hat * count - level - x_hat * along)
    if output_mask[1] and weight is not None:
        found[1] = f.sum(grad * x_hat, outer) if outer else grad * x_hat
    if output_mask[2] and bias is not None:
        found[2] = f.sum(grad, outer) if outer else f.clone(grad)
    return tuple(None if one is None else cast(one, input.dtype) for one in found)


# Groups of channels -----------------------------------------------------------------------------------------------


@decomposes("native_group_norm", core=False)
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Each example's groups of channels are normalized one by one."""
    x = wide(input)
    grouped = x.reshape(N, group, C // group, HxW)
    out, mean, scale = _normalized(grouped, [2, 3], eps)
    out = out.view(input.shape)
    sizes = [1, C, *[1] * (input.dim() - 2)]
    out = out if weight is None else out * weight.reshape(sizes)
    out = out if bias is None else out + bias.reshape(sizes)
    statistics = (weight if weight is not None else input).dtype if input.dtype in HALF_PRECISION else input.dtype
    flat = [cast(one.squeeze(3).squeeze(2), statistics) for one in (mean, scale)]
    return cast(out, input.dtype), flat[0], flat[1]


@decomposes("native_group_norm_backward")
def native_group_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Mask,
) -> tuple[Any, ...]:
    """The gradients of input, weight and bias."""
    each = C // group
    grad, x, mean, rstd = (wide(one) for one in (grad_out, input, mean, rstd))
    products = f.sum(f.mul(grad, x).reshape(N, C, HxW), [2])
    sums = f.sum(grad.reshape(N, C, HxW), [2])
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        scale = 1.0 / (HxW * each) if HxW * each else 0.0
        if weight is None:
            grouped, totals = products.view(N, group, each), sums.view(N, group, each)
            first = rstd.unsqueeze(-1).expand(N, group, each).reshape(N, group, each)
        else:
            gain = wide(weight).unsqueeze(0)
            grouped, totals = (f.mul(one, gain).view(N, group, each) for one in (products, sums))
            first = f.mul(rstd.unsqueeze(-1), wide(weight).view(1, group, each))
        along, level = f.sum(grouped, [2]), f.sum(totals, [2])
        second = (level * mean - along) * rstd * rstd * rstd * scale
        third = -second * mean - level * rstd * scale
        shape = (N, group, each, HxW)
        found[0] = (
            f.mul(grad.reshape(shape), first.unsqueeze(-1))
            + f.mul(x.reshape(shape), second.unsqueeze(-1).unsqueeze(-1))
            + third.unsqueeze(-1).unsqueeze(-1)
        ).reshape(input.shape)
    if output_mask[1]:
        centred = products.view(N, group, each) - sums.view(N, group, each) * mean.unsqueeze(-1)
        found[1] = f.sum(centred * rstd.unsqueeze(-1), [0]).reshape(C)
    if output_mask[2]:
        found[2] = f.sum(sums, [0])
    return tuple(None if one is None else cast(one, input.dtype) for one in found)


# Weights ---------------------------------------------------------------------------------------------------------


@decomposes("_weight_norm_interface")
def weight_norm_interface(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Tensor, Tensor]:
    """A weight with the length g along one dimension; and the lengths it had."""
    dims = [i for i in range(v.dim()) if i != dim % v.dim()]
    length = f.norm(wide(v), 2, dims, True)
    return cast(v * (g / length), v.dtype), length
