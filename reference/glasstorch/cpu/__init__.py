"""Which names of torch are for the CPU alone?

Reading order: `amp/`.

Mirrors: torch/cpu/__init__.py
Differs: only `amp`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.cpu import amp as amp

__getattr__ = refuse_unknown_names("glasstorch.cpu")
