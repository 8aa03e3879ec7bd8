"""Which helpers do the formulas of losses call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (mse_loss_double_backward, smooth_l1_loss_double_backward,
    huber_loss_double_backward, soft_margin_loss_double_backward, binary_cross_entropy_double_backward,
    binary_cross_entropy_with_logits_backward, apply_loss_reduction)
Differs: the formulas of binary_cross_entropy's gradient take the product of both gradients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.operators.generated.functions import logaddexp, sigmoid, zeros_like
from glasstorch.operators.shapes.loss.shared import MEAN, NONE

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def reduced(tensor: Tensor, reduction: int) -> Tensor:
    """An elementwise loss after the requested reduction: none, mean or sum."""
    if reduction == NONE:
        return tensor
    return tensor.mean() if reduction == MEAN else tensor.sum()


def mse_loss_double_backward(grad: Tensor, grad_output: Tensor, input: Tensor, reduction: int) -> Tensor:
    """The gradient of mse_loss's backward with respect to the input."""
    result = 2 * grad * grad_output
    return result / grad.numel() if reduction == MEAN else result


def smooth_l1_loss_double_backward(grad: Tensor, input: Tensor, target: Tensor, reduction: int, beta: float) -> Tensor:
    """The second derivative of smooth_l1_loss: 1 / beta where the difference is below beta."""
    return _averaged(grad * ((input - target).abs() < beta) / beta, input, reduction)


def huber_loss_double_backward(grad: Tensor, input: Tensor, target: Tensor, reduction: int, delta: float) -> Tensor:
    """The second derivative of huber_loss: 1 where the difference is below delta."""
    return _averaged(grad * ((input - target).abs() < delta), input, reduction)


def soft_margin_loss_double_backward(grad: Tensor, input: Tensor, target: Tensor, reduction: int) -> Tensor:
    """The second derivative of soft_margin_loss: `target**2 * s * (1 - s)` with the sigmoid `s` of both."""
    s = sigmoid(target * input)
    return _averaged(grad * target * target * s * (1 - s), input, reduction)


def _averaged(grad: Tensor, input: Tensor, reduction: int) -> Tensor:
    """A gradient of elements, of which the mean has a share each."""
    return grad / input.numel() if reduction == MEAN else grad


# binary_cross_entropy -------------------------------------------------------------------------------------------

LEAST_VARIANCE = 1e-12


def _weighted(grad: Tensor, weight: Tensor | None, input: Tensor, reduction: int) -> Tensor:
    return _averaged(grad if weight is None else grad * weight, input, reduction)


def binary_cross_entropy_slope(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Tensor:
    """What binary_cross_entropy_backward multiplies its gradient with."""
    slope = (self - target) / ((1 - self) * self).clamp_min(LEAST_VARIANCE)
    return _weighted(slope, weight, self, reduction)


def binary_cross_entropy_target_backward(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    """The gradient of binary_cross_entropy with respect to the target: minus the logit."""
    return _weighted(((1 - self).log() - self.log()) * grad, weight, target, reduction)


def binary_cross_entropy_double_backward(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    """The gradient of binary_cross_entropy_backward with respect to the probability."""
    variance = ((1 - self) * self).clamp_min(LEAST_VARIANCE)
    curvature = (self * self - 2 * self * target + target) / (variance * variance)
    return _weighted(curvature * grad, weight, self, reduction)


def binary_cross_entropy_double_backward_target(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    """The gradient of binary_cross_entropy_backward with respect to the target."""
    return _weighted(-grad / ((1 - self) * self).clamp_min(LEAST_VARIANCE), weight, target, reduction)


def binary_cross_entropy_with_logits_backward(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int
) -> Tensor:
    """The sigmoid minus the target; `pos_weight` weighs what true targets add to both."""
    p = sigmoid(input)
    if pos_weight is None:
        slope = p - target
    else:
        weighted = pos_weight * target
        slope = (weighted + 1 - target) * p - weighted
    return _weighted(slope * grad, weight, input, reduction)


def binary_cross_entropy_with_logits_target_backward(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int
) -> Tensor:
    """Minus the logit; with `pos_weight`, `log(1 - p) - pos_weight * log(p)` of the sigmoid `p`."""
    slope = -input if pos_weight is None else pos_weight * _softplus(-input) - _softplus(input)
    return _weighted(slope * grad, weight, target, reduction)


def _softplus(x: Tensor) -> Tensor:
    """`log(1 + exp(x))`, without overflow."""
    return logaddexp(x, zeros_like(x))
