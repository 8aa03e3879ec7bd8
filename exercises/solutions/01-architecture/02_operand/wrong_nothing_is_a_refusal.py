"""Takes a result that counts as false for a refusal, so that 0 and False pass the turn on."""

from collections.abc import Callable
from typing import Any

from glasstorch.core.errors import ArgumentTypeError

REFUSED_BY = "check"


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    try:
        return function(self, other) or NotImplemented
    except ArgumentTypeError:
        return NotImplemented
