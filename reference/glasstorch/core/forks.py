"""Which locks does a forked process find free?

Mirrors: nothing; PyTorch's allocators take no lock of Python's
Differs: a process may fork while another of its threads holds a lock. That thread does not exist in the new process,
    where nobody would ever release the lock.
"""

from __future__ import annotations

import os
from typing import Protocol


class Lock(Protocol):
    """A lock of `threading`."""

    def acquire(self) -> bool: ...

    def release(self) -> None: ...


def free_after_forks(lock: Lock) -> None:
    """Fork only while no other thread holds the lock. Locks are taken in the reverse order of these calls."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
