"""What does a worker of a loader know of itself?

Mirrors: torch/utils/data/_utils/worker.py (WorkerInfo, get_worker_info)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["WorkerInfo", "get_worker_info"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Its place among the workers, its seed and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker, what it knows of itself; None in the process that iterates."""
    return _worker_info


def set_worker_info(info: WorkerInfo) -> None:
    """Called once when a worker begins."""
    global _worker_info
    _worker_info = info
