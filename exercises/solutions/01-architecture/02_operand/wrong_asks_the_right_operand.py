"""Asks the right operand itself, which is for Python to do, and only knows of plus."""

from collections.abc import Callable
from typing import Any

from glasstorch.core.errors import ArgumentTypeError

REFUSED_BY = "check"


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    try:
        return function(self, other)
    except ArgumentTypeError:
        return other.__radd__(self) if hasattr(other, "__radd__") else NotImplemented
