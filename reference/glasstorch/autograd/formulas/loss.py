"""Which helpers do the formulas of losses call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (mse_loss_double_backward, apply_loss_reduction)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.operators.shapes.loss import MEAN, NONE

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
