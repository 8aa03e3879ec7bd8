"""Which samples does one of several processes train on?

Mirrors: torch/utils/data/distributed.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.distributed import DistributedSampler as DistributedSampler

__all__ = [
    "DistributedSampler",
]

__getattr__ = _refuse_unknown_names(__name__)
