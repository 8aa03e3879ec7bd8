"""What can be configured in the library that optimises the contraction order of einsum?

Mirrors: torch/backends/opt_einsum/__init__.py
Differs: the settings are stored in python_forms/contraction.py, where einsum reads them.
"""

from __future__ import annotations

import sys
from types import ModuleType

from glasstorch.python_forms.contraction import choice
from glasstorch.python_forms.contraction import flags as flags
from glasstorch.python_forms.contraction import get_opt_einsum as get_opt_einsum
from glasstorch.python_forms.contraction import is_available as is_available
from glasstorch.python_forms.contraction import set_flags as set_flags

__all__ = ["flags", "get_opt_einsum", "is_available", "set_flags"]


class OptEinsumModule(ModuleType):
    """A module whose `enabled` and `strategy` can be assigned to."""

    @property
    def enabled(self) -> bool:
        """Whether opt_einsum chooses the contraction order."""
        return choice.enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        choice.enabled = value

    @property
    def strategy(self) -> str | None:
        """How opt_einsum searches for an order: 'auto', 'greedy' or 'optimal'; None where it is not installed."""
        return choice.strategy

    @strategy.setter
    def strategy(self, value: str) -> None:
        choice.strategy = value


sys.modules[__name__].__class__ = OptEinsumModule
