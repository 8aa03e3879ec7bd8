"""Includes the key if there is at least one mode."""

from __future__ import annotations

from typing import Any

from glasstorch.core.keys import PYTHON

FILE = "dispatch/mode_stack.py"
LINE = 107


def mended(stack: tuple[Any, ...], included: int) -> int:
    """The keys to include while these modes are on: with Python if there is at least one."""
    return included | PYTHON if stack else included & ~PYTHON
