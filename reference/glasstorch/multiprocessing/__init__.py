"""How do tensors travel between processes without being copied?

Reading order: `reductions`.

Mirrors: torch/multiprocessing/__init__.py
Differs: the strategy is always `file_descriptor`; PyTorch's `file_system` needs a manager process to clean up. What is
    here works from the import of this module on, which `glasstorch.multiprocessing` does at its first use.

It is Python's `multiprocessing`, with a way to send tensors: through queues and pipes, and to a new process, their
storages go as shared memory, and a write in one process is seen in the others. A queue of Python's own module sends a
tensor so only once this one was imported; before, it sends a copy.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403

from glasstorch.core.errors import ArgumentValueError
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.multiprocessing.reductions import register_reductions

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy"]
__all__ += multiprocessing.__all__

STRATEGY = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The ways in which storages can be shared: one."""
    return {STRATEGY}


def get_sharing_strategy() -> str:
    """The way in which storages are shared."""
    return STRATEGY


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose the way in which storages are shared: `file_descriptor`; any other is refused."""
    if new_strategy != STRATEGY:
        raise ArgumentValueError(f"invalid sharing strategy {new_strategy!r}, expected one of {{{STRATEGY!r}}}")


register_reductions()
__getattr__ = refuse_unknown_names("glasstorch.multiprocessing")
