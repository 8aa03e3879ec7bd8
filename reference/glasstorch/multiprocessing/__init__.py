"""How do tensors travel between processes without being copied?

Reading order: `reductions`, `spawn` (one function in several processes).

Mirrors: torch/multiprocessing/__init__.py
Differs: the strategy is always `file_descriptor`; PyTorch's `file_system` needs a manager process to clean up. Sharing
    starts with the import of this module, which happens at the first use of `glasstorch.multiprocessing`.

The module is Python's `multiprocessing` with a way to send tensors: in queues, in pipes and as arguments of a new
process, their storages are sent as shared memory, and a write in one process is seen in the others. Queues of Python's
own module do this only after this one was imported; before, they send copies.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

from glasstorch.core.errors import ArgumentValueError
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.data.reductions import register_reductions
from glasstorch.multiprocessing.spawn import ProcessContext as ProcessContext
from glasstorch.multiprocessing.spawn import ProcessExitedException as ProcessExitedException
from glasstorch.multiprocessing.spawn import ProcessRaisedException as ProcessRaisedException
from glasstorch.multiprocessing.spawn import SpawnContext as SpawnContext
from glasstorch.multiprocessing.spawn import spawn as spawn
from glasstorch.multiprocessing.spawn import start_processes as start_processes

__all__ = [
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__all__ += multiprocessing.__all__

STRATEGY = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The strategies for sharing storages; there is one."""
    return {STRATEGY}


def get_sharing_strategy() -> str:
    """The strategy for sharing storages."""
    return STRATEGY


def set_sharing_strategy(new_strategy: str) -> None:
    """Set the strategy for sharing storages: `file_descriptor`; any other is refused."""
    if new_strategy != STRATEGY:
        raise ArgumentValueError(f"invalid sharing strategy {new_strategy!r}, expected one of {{{STRATEGY!r}}}")


register_reductions()
__getattr__ = refuse_unknown_names("glasstorch.multiprocessing", ("reductions",))
