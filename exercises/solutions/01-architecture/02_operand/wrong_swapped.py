"""Calls the function with the operands the wrong way round."""

from collections.abc import Callable
from typing import Any

from glasstorch.core.errors import ArgumentTypeError

REFUSED_BY = "check"


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    try:
        return function(other, self)
    except ArgumentTypeError:
        return NotImplemented
