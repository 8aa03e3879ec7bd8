"""Which settings does the capture of programs have, at PyTorch's own path?

Mirrors: torch/_dynamo/config.py
Differs: the values are in compiler/settings.py.
"""

import sys
from types import ModuleType
from typing import Any

from glasstorch.compiler.settings import settings


class _Config(ModuleType):
    """A module whose attributes are the settings."""

    def __getattr__(self, name: str) -> Any:
        return getattr(settings, name)

    def __setattr__(self, name: str, value: Any) -> None:
        settings.set(name, value)


sys.modules[__name__].__class__ = _Config
