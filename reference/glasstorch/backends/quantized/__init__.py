"""Which library computes with quantized numbers?

Mirrors: torch/backends/quantized/__init__.py
Differs: none: there are no quantized dtypes.
"""

from __future__ import annotations

import sys
from types import ModuleType

_NONE = "none"


class QuantizedEngine(ModuleType):
    """A module whose `engine` can be assigned to, as far as there is one."""

    @property
    def engine(self) -> str:
        """The library in use."""
        return _NONE

    @engine.setter
    def engine(self, value: str) -> None:
        if value not in self.supported_engines:
            raise RuntimeError(
                f"{value} is not a valid value for quantized engine: there are no quantized dtypes; "
                f"expected one of {', '.join(self.supported_engines)}"
            )

    @property
    def supported_engines(self) -> list[str]:
        """The libraries that could be used."""
        return [_NONE]


sys.modules[__name__].__class__ = QuantizedEngine
