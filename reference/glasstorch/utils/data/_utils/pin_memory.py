"""How does a batch move into pinned memory?

Mirrors: torch/utils/data/_utils/pin_memory.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.pin_memory import pin_memory as pin_memory

__getattr__ = _refuse_unknown_names(__name__)
