"""In which order does einsum multiply more than two operands?

Mirrors: torch/functional.py (einsum), torch/backends/opt_einsum/__init__.py
Differs: opt_einsum, if installed, is imported when an order is first needed. The settings of
    torch.backends.opt_einsum are kept here, a layer below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from glasstorch.core.errors import ArgumentValueError

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

STRATEGIES = ("auto", "greedy", "optimal")


@cache
def is_available() -> bool:
    """Whether the package opt_einsum is installed; without it, einsum multiplies from left to right."""
    return find_spec("opt_einsum") is not None


@cache
def get_opt_einsum() -> Any:
    """The package opt_einsum, or None where it is not installed."""
    return import_module("opt_einsum") if is_available() else None


class Choice:
    """Whether opt_einsum chooses the order, and with which strategy."""

    def __init__(self) -> None:
        self._enabled = is_available()
        self._strategy = "auto" if is_available() else None

    @property
    def enabled(self) -> bool:
        """Whether opt_einsum is used."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if value and not is_available():
            raise ArgumentValueError(
                f"opt_einsum is not available, so setting `enabled` to {value} has no effect: einsum multiplies from "
                f"left to right; install opt-einsum, or leave `enabled` False"
            )
        self._enabled = value

    @property
    def strategy(self) -> str | None:
        """'auto', 'greedy' or 'optimal'; None where opt_einsum is not installed."""
        return self._strategy

    @strategy.setter
    def strategy(self, value: str) -> None:
        if not is_available() or not self._enabled:
            lacking = "available" if not is_available() else "enabled"
            raise ArgumentValueError(
                f"opt_einsum is not {lacking}, so setting a `strategy` to {value} has no effect: einsum multiplies "
                f"from left to right"
            )
        if value not in STRATEGIES:
            raise ArgumentValueError(
                f"`strategy` must be one of the following: [{', '.join(STRATEGIES)}] but is {value}"
            )
        self._strategy = value


choice = Choice()


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str | None]:
    """Set both, unless None; returns the previous settings."""
    before = choice.enabled, choice.strategy
    if _enabled is not None:
        choice.enabled = _enabled
    if _strategy is not None:
        choice.strategy = _strategy
    return before


@contextmanager
def flags(enabled: bool | None = None, strategy: str | None = None) -> Iterator[None]:
    """Set both inside a `with` block."""
    before = set_flags(enabled, strategy)
    try:
        yield
    finally:
        choice._enabled, choice._strategy = before


def contraction_path(equation: str, operands: Sequence[Tensor]) -> list[int] | None:
    """The positions of the two operands of each product, as a flat list of pairs; None for left to right."""
    if len(operands) <= 2 or not choice.enabled or not is_available():
        return None
    pairs = get_opt_einsum().contract_path(equation, *operands, optimize=choice.strategy)[0]
    return [position for pair in pairs for position in pair]
