"""Which settings do `save` and `load` have?

Mirrors: torch/utils/serialization/config.py
Differs: re-exports of serialization/settings.py.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.serialization.settings import load as load
from glasstorch.serialization.settings import save as save

__all__ = ["load", "save"]

__getattr__ = refuse_unknown_names("glasstorch.utils.serialization.config")
