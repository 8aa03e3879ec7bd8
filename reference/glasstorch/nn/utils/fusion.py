"""How do a linear layer or a convolution and the batch normalization behind it become one layer?

Mirrors: torch/nn/utils/fusion.py
"""

from __future__ import annotations

import copy
from typing import TypeVar

from glasstorch._tensor import Tensor
from glasstorch.nn.modules.batchnorm import _BatchNorm
from glasstorch.nn.modules.conv import _ConvNd
from glasstorch.nn.modules.linear import Linear
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.generated import functions as operators

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

SomeConv = TypeVar("SomeConv", bound=_ConvNd)
SomeLinear = TypeVar("SomeLinear", bound=Linear)


def fuse_conv_bn_eval(conv: SomeConv, bn: _BatchNorm, transpose: bool = False) -> SomeConv:
    """A copy of a convolution with the weight and bias that also normalize; both modules must be in evaluation mode.

    `transpose` says that it is a transposed convolution. The normalization must have running statistics.
    """
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    mean, var = _statistics_of(bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, mean, var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of the convolution (w, b) followed by the normalization (mean, variance, eps, weight, bias).

    They keep their dtypes and whether they are trained. `transpose`: the output channels are dimension 1 of the weight.
    """
    weight_dtype = conv_w.dtype
    bias_dtype = weight_dtype if conv_b is None else conv_b.dtype
    conv_b = operators.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = operators.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = operators.zeros_like(bn_rm) if bn_b is None else bn_b
    rsqrt = operators.rsqrt(bn_rv + bn_eps)
    ones = [1] * (len(conv_w.shape) - 2)
    by_channel = [1, -1, *ones] if transpose else [-1, 1, *ones]
    weight = (conv_w * (bn_w * rsqrt).reshape(by_channel)).to(dtype=weight_dtype)
    bias = ((conv_b - bn_rm) * rsqrt * bn_w + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_linear_bn_eval(linear: SomeLinear, bn: _BatchNorm) -> SomeLinear:
    """A copy of a linear layer with the weight and bias that also normalize; both must be in evaluation mode.

    The normalization has running statistics, of as many features as the layer puts out, or of one.
    """
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(linear)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    mean, var = _statistics_of(bn)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight,
        fused.bias,
        mean,
        var,
        bn.eps,
        bn.weight,  # type: ignore[arg-type]  # None, without `affine`, cannot be multiplied
        bn.bias,  # type: ignore[arg-type]
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of the layer (w, b) followed by the normalization (mean, variance, eps, weight, bias)."""
    weight_dtype = linear_w.dtype
    bias_dtype = weight_dtype if linear_b is None else linear_b.dtype
    linear_b = operators.zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * operators.rsqrt(bn_rv + bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(dtype=weight_dtype)
    bias = ((linear_b - bn_rm) * scale + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)


def _statistics_of(bn: _BatchNorm) -> tuple[Tensor, Tensor]:
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    return bn.running_mean, bn.running_var
