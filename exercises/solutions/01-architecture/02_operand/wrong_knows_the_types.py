"""Decides by a list of its own which types the function takes, and forgets numbers with a point."""

from collections.abc import Callable
from typing import Any

import glasstorch as torch
from glasstorch.core.errors import ArgumentTypeError

REFUSED_BY = "graft"


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    if isinstance(self, torch.Tensor) and not isinstance(other, torch.Tensor | int):
        return NotImplemented
    try:
        return function(self, other)
    except ArgumentTypeError:
        return NotImplemented
