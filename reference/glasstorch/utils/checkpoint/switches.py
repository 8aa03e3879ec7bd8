"""Which settings apply to all checkpoints in a block?

Mirrors: torch/utils/checkpoint.py (set_checkpoint_early_stop, set_checkpoint_debug_enabled)
Differs: a setting belongs to the running context; PyTorch has one for all threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

early_stop: ContextVar[bool | None] = ContextVar("checkpoint_early_stop", default=None)
debug: ContextVar[bool | None] = ContextVar("checkpoint_debug", default=None)


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Set, for all checkpoints inside, whether recomputation stops as soon as it has everything that was saved.

    It has to surround the forward pass; the backward pass may be outside.
    """
    token = early_stop.set(enable)
    try:
        yield
    finally:
        early_stop.reset(token)


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Set, for all checkpoints inside, whether errors list the operators that ran; None leaves it to each of them."""
    token = debug.set(enabled)
    try:
        yield
    finally:
        debug.reset(token)
