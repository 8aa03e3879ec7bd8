"""Passes the turn on at every TypeError, as PyTorch does, and so hides a mistake further down."""

from collections.abc import Callable
from typing import Any

REFUSED_BY = "check"


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    try:
        return function(self, other)
    except TypeError:
        return NotImplemented
