"""Which switch of AMD's MIOpen does a program set?

Mirrors: torch/backends/miopen/__init__.py
Differs: MIOpen is not used, so it changes nothing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from glasstorch.backends import _switches

set_flags = _switches.setter(__name__, _immediate=("immediate", None))


def flags(immediate: bool = False) -> AbstractContextManager[None]:
    """The switch as given inside a `with` block, and after it as it was."""
    return _switches.as_set(set_flags, immediate)


_switches.switchable(__name__, immediate=_switches.Switch(False, "set_immediate_miopen"))
