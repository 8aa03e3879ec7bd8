"""What does a worker of a loader know of itself?

Mirrors: torch/utils/data/_utils/worker.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.worker_info import WorkerInfo as WorkerInfo
from glasstorch.data.worker_info import get_worker_info as get_worker_info

__getattr__ = _refuse_unknown_names(__name__)
