"""Which helpers do the formulas of softmax call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (softmax_double_backward, log_softmax_double_backward)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.operators.generated.functions import exp, sum

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def softmax_double_backward(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of softmax's backward with respect to its argument `output`."""
    return (
        grad_output * grad
        - (sum(output * grad_output, [dim], True) * grad)
        - (grad_output * sum(output * grad, [dim], True))
    )


def log_softmax_double_backward(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of log_softmax's backward with respect to its argument `output`."""
    return -grad * exp(output) * sum(grad_output, [dim], True)


def softmax_tangent(self_t: Tensor, result: Tensor, dim: int) -> Tensor:
    """How softmax changes: each weight times what its tangent has above the weighted mean."""
    return result * (self_t - (result * self_t).sum([dim], True))
