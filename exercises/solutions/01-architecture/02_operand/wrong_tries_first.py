"""Tries whether the function takes the operands, and then calls it: what it writes is written twice."""

from collections.abc import Callable
from typing import Any

from glasstorch.core.errors import ArgumentTypeError

REFUSED_BY = "check"


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    try:
        function(self, other)
    except ArgumentTypeError:
        return NotImplemented
    return function(self, other)
