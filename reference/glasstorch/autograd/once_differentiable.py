"""How does a backward whose operations cannot be differentiated refuse a second derivative?

Mirrors: torch/autograd/function.py (once_differentiable), torch/csrc/autograd/functions/basic_ops.h (DelayedError)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.history import gradient_edge, set_histories
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode, no_grad
from glasstorch.autograd.node import Node
from glasstorch.core.errors import AutogradError
from glasstorch.core.hooks import required


class Error(Node):
    """The node of a gradient that cannot be differentiated: it raises an error when it runs."""

    def apply(self, grads: Gradients) -> Gradients:
        raise AutogradError("trying to differentiate twice a function that was marked with @once_differentiable")

    def name(self) -> str:
        return "torch::autograd::Error"


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate the `backward` of a Function that gives no second derivatives: nothing in it is recorded.

    Without the decorator, operations that are hidden from autograd, such as those of NumPy, would make second
    derivatives silently wrong. With it, to differentiate the gradients raises RuntimeError.
    """

    @wraps(fn)
    def backward(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            results = fn(ctx, *grads)
        if not grad_mode.get() or not any(isinstance(grad, Tensor) and grad.requires_grad for grad in grads):
            return results
        outputs = results if isinstance(results, tuple) else (results,)
        # Leaves of their own: what the gradients were computed from is out of reach behind the error.
        leaves = [None if output is None else required(output.detach()) for output in outputs]
        refused = tuple(None if output is None else output.detach() for output in outputs)
        set_histories(refused, Error([None if leaf is None else gradient_edge(leaf) for leaf in leaves]))
        return refused if isinstance(results, tuple) else refused[0]

    return backward
