"""Unpacks the result and cuts its history off: the second derivative is silently too small."""

from typing import Any

import glasstorch as torch
from glasstorch.autograd.history import gradient_edge, set_history
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD

REFUSED_BY = "check"


class SigmoidBackward0(Node):
    """One step backwards through sigmoid."""

    saved_result: SavedVariable | None

    def apply(self, grads: list[Any]) -> tuple[Any, ...]:
        """The gradient of the argument, from that of the result; None if none has arrived."""
        (grad,) = grads
        if grad is None:
            return (None,)
        result = self.unpack(self.saved_result).detach()
        return (grad * (result * (1 - result)),)

    def release_variables(self) -> None:
        """Let go of what was saved."""
        self.saved_result = None
        self.released = True


def sigmoid(keys: int, self: torch.Tensor) -> torch.Tensor:
    """The sigmoid of a tensor, recorded if that is wanted."""
    edge = gradient_edge(self) if grad_mode.get() else None
    result = torch.ops.aten.sigmoid.default.redispatch(keys & BELOW_AUTOGRAD, self)
    if edge is not None:
        node = SigmoidBackward0((edge,))
        node.saved_result = SavedVariable(result, node, 0)
        set_history(result, node)
    return result
