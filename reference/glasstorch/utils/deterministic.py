"""Does new memory hold a known value, where deterministic algorithms are asked for?

Mirrors: torch/utils/deterministic.py
"""

from __future__ import annotations

import sys
from types import ModuleType

from glasstorch import _settings
from glasstorch.core.unknown_names import refuse_unknown_names


class _Deterministic(ModuleType):
    """The module, whose attribute is a setting."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether new memory is filled under `torch.use_deterministic_algorithms(True)`; it is, unless set to False."""
        return _settings._get_deterministic_fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        _settings._set_deterministic_fill_uninitialized_memory(mode)


sys.modules[__name__].__class__ = _Deterministic

__getattr__ = refuse_unknown_names("glasstorch.utils.deterministic")
