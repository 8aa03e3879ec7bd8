"""Where are the settings of `save` and `load`?

Reading order: `config`.

Mirrors: torch/utils/serialization/__init__.py
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils.serialization import config as config

__getattr__ = refuse_unknown_names("glasstorch.utils.serialization")
