"""Who is told that a function runs whose random numbers are to be the same when the backward pass runs it again?

Mirrors: torch/utils/checkpoint.py (preserve_rng_state)
Differs: whoever traces a program is told of each run; PyTorch only sets the generators back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class Watcher(Protocol):
    """Who is told of each run of a function whose random numbers are to be the same when it runs again."""

    def here(self) -> int:
        """A run begins: where that is."""

    def ended(self, checkpoint: Any, is_first: bool, start: int) -> None:
        """It ends, which began there."""


watcher: ContextVar[Watcher | None] = ContextVar("who_watches_checkpoints", default=None)


@contextmanager
def watched(checkpoint: Any, is_first: bool) -> Iterator[None]:
    """A run of a checkpoint's function, of which the watcher is told."""
    told = watcher.get()
    if told is None:
        yield
        return
    start = told.here()
    try:
        yield
    finally:
        told.ended(checkpoint, is_first, start)
