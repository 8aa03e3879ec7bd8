"""Which operators do old layers call at torch._VF?

Mirrors: torch/_VF.py
"""

from __future__ import annotations

from typing import Any

from glasstorch.operators.generated import functions


def __getattr__(name: str) -> Any:
    return getattr(functions, name)
