"""How do tensors travel between processes without being copied?

Reading order: `reductions`, `spawn` (one function in several processes).

Mirrors: torch/multiprocessing/__init__.py
Differs: the strategy `file_system` may be chosen, and changes nothing: memory is always shared by a file descriptor,
    which stays open as long as its storage. PyTorch's `file_system` needs no open descriptor, but a manager process to
    clean up. Sharing starts with the import of this module, which happens at the first use of
    `glasstorch.multiprocessing`.

The module is Python's `multiprocessing` with a way to send tensors: in queues, in pipes and as arguments of a new
process, their storages are sent as shared memory, and a write in one process is seen in the others. Queues of Python's
own module do this only after this one was imported; before, they send copies.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

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

STRATEGIES = ("file_descriptor", "file_system")


class _Chosen:
    strategy = STRATEGIES[0]


def get_all_sharing_strategies() -> set[str]:
    """The strategies that can be set for sharing storages."""
    return set(STRATEGIES)


def get_sharing_strategy() -> str:
    """The strategy that is set: `file_descriptor` at first."""
    return _Chosen.strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Set the strategy for sharing storages, as programs do; storages are shared by descriptors whichever is set."""
    if new_strategy not in STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {set(STRATEGIES)}")
    _Chosen.strategy = new_strategy


register_reductions()
__getattr__ = refuse_unknown_names("glasstorch.multiprocessing", ("reductions",))
