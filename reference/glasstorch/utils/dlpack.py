"""Which functions exchange tensors through DLPack?

Mirrors: torch/utils/dlpack.py
Differs: re-exports of outside_data/dlpack.py and outside_data/foreign_memory.py.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.outside_data.dlpack import DLDeviceType as DLDeviceType
from glasstorch.outside_data.foreign_memory import from_dlpack as from_dlpack
from glasstorch.outside_data.foreign_memory import to_dlpack as to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]

__getattr__ = refuse_unknown_names("glasstorch.utils.dlpack")
