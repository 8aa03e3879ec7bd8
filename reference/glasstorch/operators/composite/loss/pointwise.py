"""How are losses that compare element with element composed of other operators?

Mirrors: aten/src/ATen/native/Loss.cpp (l1_loss, kl_div, poisson_nll_loss, soft_margin_loss,
    binary_cross_entropy_with_logits, apply_loss_reduction)
Differs: soft_margin_loss and binary_cross_entropy_with_logits write to no intermediate result in place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from glasstorch.core.dtype import BOOL, FLOATS, INTEGRAL, check_can_cast
from glasstorch.core.errors import ArgumentError, ShapeError, not_implemented_for
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.loss.shared import MEAN, SUM
from glasstorch.operators.shapes.promotion import result_type

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def reduced(losses: Tensor, reduction: int) -> Tensor:
    """The losses, their mean or their sum."""
    if reduction == MEAN:
        return losses.mean()
    return losses.sum() if reduction == SUM else losses


def log_sigmoid(x: Tensor) -> Tensor:
    """`log(1 / (1 + exp(-x)))`, which neither overflows nor rounds to 0 where it is small."""
    return -f.logaddexp(-x, f.zeros_like(x))


def l1_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """The absolute differences."""
    return reduced((self - target).abs(), reduction)


def kl_div(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> Tensor:
    """`target * (log(target) - self)`, which is 0 where the target is."""
    for tensor in (self, target):
        if tensor.dtype.is_complex:
            raise ArgumentError(f"kl_div: Complex inputs are not supported, got {tensor.dtype.scalar_name}.")
        if tensor.dtype.category in (BOOL, INTEGRAL):
            raise ArgumentError(f"kl_div: Integral inputs are not supported, got {tensor.dtype.scalar_name}.")
    each = target.exp() * (target - self) if log_target else f.xlogy(target, target) - target * self
    return reduced(each, reduction)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """`rate - target * log(rate)`; with `full` also Stirling's approximation of `log(target!)` above 1."""
    each = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        each = each + stirling.masked_fill(target <= 1, 0)
    return reduced(each, reduction)


# soft_margin_loss -----------------------------------------------------------------------------------------------


def soft_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """`log(1 + exp(-target * self))`, in the dtype of the input."""
    each = _fitting(self, (-self * target).exp().log1p())
    return reduced(each, reduction)


def soft_margin_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """`-target / (1 + exp(target * self))` times the gradient, in the dtype of the input."""
    share = 1 / self.numel() if reduction == MEAN and self.numel() else 1.0
    z = (-target * self).exp()
    return _fitting(self, target * z * -share / (1 + z) * grad_output)


def _fitting(self: Tensor, result: Tensor) -> Tensor:
    """A result of the input's sizes in the input's dtype; others are refused."""
    shape = broadcast_shapes(self._shape, result._shape)
    if shape != self._shape:
        raise ShapeError(f"output with shape {list(self._shape)} doesn't match the broadcast shape {list(shape)}")
    check_can_cast(result.dtype, self.dtype)
    return result.to(self.dtype)


# binary_cross_entropy_with_logits -------------------------------------------------------------------------------


def binary_cross_entropy_with_logits(
    self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int
) -> Tensor:
    """`(1 - target) * x - weighted * log_sigmoid(x)`, where `weighted` is 1, or as `pos_weight` weighs true targets."""
    if self.dtype not in FLOATS:
        raise not_implemented_for("log_sigmoid_cpu", self.dtype)
    check_can_cast(result_type(self, target), target.dtype)
    wanted = broadcast_shapes(self._shape, target._shape)
    if wanted != target._shape:
        raise ShapeError(f"output with shape {list(target._shape)} doesn't match the broadcast shape {list(wanted)}")
    logs = log_sigmoid(self)
    if pos_weight is not None:
        logs = logs * ((pos_weight - 1) * target + 1)
    each = (1 - target) * self - logs
    if weight is not None:
        shape = broadcast_shapes(each._shape, weight._shape)
        if shape != each._shape:
            raise ShapeError(f"output with shape {list(each._shape)} doesn't match the broadcast shape {list(shape)}")
        each = each * weight
    return reduced(each.to(target.dtype), reduction)
