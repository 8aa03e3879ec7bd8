"""How does a user's backward say that it cannot be differentiated itself?

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


class DelayedError(Node):
    """The node of gradients that have no derivative: it raises an error if a second backward pass reaches it."""

    def apply(self, grads: Gradients) -> Gradients:
        raise AutogradError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator for a Function's backward, which then runs unrecorded, whatever `create_graph` asks for.

    The gradients that it returns seem to be differentiable if those that it received are; differentiating them raises
    an error, where a backward without the decorator would give a wrong second derivative or none.
    """

    @wraps(fn)
    def unrecorded(ctx: Any, *grad_outputs: Any) -> Any:
        with no_grad():
            result = fn(ctx, *grad_outputs)
        edges = [gradient_edge(g) for g in grad_outputs if isinstance(g, Tensor)]
        if not grad_mode.get() or not any(edges):
            return result
        results = result if isinstance(result, tuple) else (result,)
        results = tuple(None if gradient is None else gradient.detach() for gradient in results)
        set_histories(results, DelayedError(edges))
        return results if isinstance(result, tuple) else results[0]

    return unrecorded
