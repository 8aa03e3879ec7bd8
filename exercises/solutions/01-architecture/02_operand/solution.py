"""Calls the function, and returns NotImplemented where it refuses the types; other errors are raised."""

from collections.abc import Callable
from typing import Any

from glasstorch.core.errors import ArgumentTypeError

Function = Callable[..., Any]


def method_operator(function: Function, self: Any, other: Any) -> Any:
    """What a method behind an operator of Python returns."""
    try:
        return function(self, other)
    except ArgumentTypeError:
        return NotImplemented
