"""Counts the end of every block, even of one in which autocast is off."""

from __future__ import annotations

from types import TracebackType
from typing import Literal

from glasstorch.amp.autocast_mode import autocast
from glasstorch.amp.casts import clear_autocast_cache
from glasstorch.amp.state import (
    autocast_decrement_nesting,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)

FILE = "amp/autocast_mode.py"
LINE = 101


def mended(
    self: autocast, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
) -> Literal[False]:
    """Restore the settings, and discard the casts when the outermost block ends."""
    if autocast_decrement_nesting() == 0:
        clear_autocast_cache()
    on, dtype, cache_enabled = self._before.pop()
    set_autocast_enabled(self.device, on)
    set_autocast_dtype(self.device, dtype)
    set_autocast_cache_enabled(cache_enabled)
    return False
