"""Passes the turn on at every error, and so hides that sizes do not fit."""

from collections.abc import Callable
from typing import Any

REFUSED_BY = "check"


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    try:
        return function(self, other)
    except Exception:  # noqa: BLE001
        return NotImplemented
