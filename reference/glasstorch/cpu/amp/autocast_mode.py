"""What was autocast for the CPU alone?

Mirrors: torch/cpu/amp/autocast_mode.py
"""

from __future__ import annotations

from glasstorch.amp import autocast_mode as for_all_devices
from glasstorch.core.dtype import bfloat16
from glasstorch.core.dtype import dtype as dtype_
from glasstorch.core.user_line import warn_user

__all__ = ["autocast"]


class autocast(for_all_devices.autocast):
    """`torch.amp.autocast("cpu", ...)`; deprecated."""

    def __init__(self, enabled: bool = True, dtype: dtype_ = bfloat16, cache_enabled: bool = True) -> None:
        warn_user(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
