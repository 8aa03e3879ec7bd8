"""Which switch of NNPACK does a program set?

Mirrors: torch/backends/nnpack/__init__.py
Differs: NNPACK is not used, so it changes nothing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from glasstorch.backends import _switches

__all__ = ["flags", "is_available", "set_flags"]

set_flags = _switches.setter(__name__, _enabled=("enabled", None))


def is_available() -> bool:
    """Whether NNPACK is used: no."""
    return False


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """The switch as given inside a `with` block, and after it as it was."""
    return _switches.as_set(set_flags, enabled)


_switches.switchable(__name__, enabled=_switches.Switch(True, "set_enabled_NNPACK"))
