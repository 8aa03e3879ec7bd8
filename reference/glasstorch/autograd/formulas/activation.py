"""Which helpers do the formulas of activations call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (elu_double_backward, gelu_double_backward,
    softplus_double_backward, glu_double_backward ...)
Differs: the gradients of silu and mish are operators with derivatives; PyTorch composes them where a graph is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import Number
from glasstorch.operators.generated.functions import (
    abs,
    cat,
    elu_backward,
    exp,
    ge,
    lt,
    sigmoid,
    sigmoid_backward,
    softplus,
    tanh,
    where,
    zeros_like,
)

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def inverse_of(alpha: Number) -> float:
    """The scale of celu's input."""
    return 1 / float(alpha.real)


def elu_double_backward(
    grad: Tensor,
    grad_output: Tensor,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: bool,
    self_or_result: Tensor,
) -> Tensor:
    """The second derivative below 0; above, elu is straight."""
    product = grad * grad_output * input_scale
    below = lt(self_or_result, 0)
    if is_result:
        return product * below
    return elu_backward(product, alpha, scale, input_scale, is_result, self_or_result) * below


def gelu_double_backward(grad: Tensor, grad_output: Tensor, self: Tensor, approximate: str) -> Tensor:
    """The second derivative of gelu, or of its approximation by tanh."""
    product = grad * grad_output
    if approximate == "none":
        density = exp(self * self * -0.5) * (1 / math.sqrt(2 * math.pi))
        return product * density * (2 - self * self)
    curve, slope = math.sqrt(2 / math.pi), 0.044715
    t = tanh(curve * (self + slope * self * self * self))
    first, second = curve * (1 + 3 * slope * self * self), 6 * curve * slope * self
    return product * (1 - t * t) * (first + 0.5 * self * second - self * t * first * first)


def silu_double_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The second derivative of `x * sigmoid(x)`."""
    s = sigmoid(self)
    return grad * s * (1 - s) * (2 + self * (1 - 2 * s))


def mish_double_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The second derivative of `x * tanh(softplus(x))`."""
    s, t = sigmoid(self), tanh(softplus(self))
    return grad * s * (1 - t * t) * (2 + self * (1 - s) - 2 * self * s * t)


def softplus_double_backward(grad: Tensor, self: Tensor, beta: Number, threshold: Number) -> Tensor:
    """The second derivative up to the threshold; beyond, softplus is straight."""
    scaled = self * beta
    return sigmoid_backward(grad, sigmoid(scaled)) * lt(scaled, threshold) * beta


def log_sigmoid_double_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The second derivative of the logarithm of the sigmoid."""
    s = sigmoid(self)
    return grad * (s - 1) * s


def hardswish_double_backward(grad: Tensor, grad_output: Tensor, self: Tensor) -> Tensor:
    """The second derivative, where it is not 0: from -3 to 3."""
    return where(lt(abs(self), 3), grad * grad_output / 3.0, 0.0)


def prelu_double_backward(grads: Sequence[Any], grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Any, ...]:
    """The gradients of the gradient, the input and the slope."""
    of_input, of_slope = (zeros_like(grad_output) if grad is None else grad for grad in grads)
    above = ge(self, 0)
    return (
        where(above, of_input, of_input * weight + of_slope * self),
        where(above, 0.0, grad_output * of_slope),
        where(above, 0.0, grad_output * of_input),
    )


def glu_double_backward(grad: Tensor, grad_output: Tensor, self: Tensor, dim: int) -> Tensor:
    """The gradient of glu's backward with respect to its input."""
    values, gates = self.chunk(2, dim)
    of_values, of_gates = grad.chunk(2, dim)
    opened = sigmoid(gates)
    steepness = grad_output * opened * (1 - opened)
    turned = of_values + of_gates * values * (1 - 2 * opened)
    return cat([of_gates * steepness, turned * steepness], dim)


def glu_double_backward_grad_output(grad: Tensor, self: Tensor, dim: int) -> Tensor:
    """The gradient of glu's backward with respect to the gradient that it was given."""
    values, gates = self.chunk(2, dim)
    of_values, of_gates = grad.chunk(2, dim)
    opened = sigmoid(gates)
    return of_values * opened + of_gates * values * opened * (1 - opened)
