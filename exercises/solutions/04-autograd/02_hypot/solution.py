"""An edge for each argument; what is saved, and what is computed, follows from the edges that lead somewhere."""

from typing import Any

import glasstorch as torch
from glasstorch.autograd.history import gradient_edge, set_history
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Node
from glasstorch.autograd.saved import SavedVariable
from glasstorch.core.keys import BELOW_AUTOGRAD


class HypotBackward0(Node):
    """One step backwards through hypot."""

    saved_self: SavedVariable | None
    saved_other: SavedVariable | None
    saved_result: SavedVariable | None

    def apply(self, grads: list[Any]) -> tuple[Any, ...]:
        """The gradients of the two arguments, from that of the result; None where there is none."""
        (grad,) = grads
        if grad is None:
            return (None, None)
        result = self.unpack(self.saved_result)
        arguments = (self.saved_self, self.saved_other)
        return tuple(
            None if edge is None else grad * (self.unpack(saved) / result)
            for edge, saved in zip(self.next_edges, arguments, strict=True)
        )

    def release_variables(self) -> None:
        """Drop what was saved."""
        self.saved_self = self.saved_other = self.saved_result = None
        self.released = True


def hypot(keys: int, self: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The length of both arguments together, recorded if that is wanted."""
    to_self, to_other = (gradient_edge(self), gradient_edge(other)) if grad_mode.get() else (None, None)
    result = torch.ops.aten.hypot.default.redispatch(keys & BELOW_AUTOGRAD, self, other)
    if to_self is not None or to_other is not None:
        node = HypotBackward0((to_self, to_other))
        node.saved_self = None if to_self is None else SavedVariable(self)
        node.saved_other = None if to_other is None else SavedVariable(other)
        node.saved_result = SavedVariable(result, node, 0)
        set_history(result, node)
    return result
