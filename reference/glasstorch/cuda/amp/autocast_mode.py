"""What were autocast and the decorators of custom Functions for CUDA alone?

Mirrors: torch/cuda/amp/autocast_mode.py
"""

from __future__ import annotations

from typing import Any

from glasstorch.amp import autocast_mode as for_all_devices
from glasstorch.core.dtype import dtype as dtype_
from glasstorch.core.dtype import float16
from glasstorch.core.user_line import warn_user

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(for_all_devices.autocast):
    """`torch.amp.autocast("cuda", ...)`; deprecated."""

    def __init__(self, enabled: bool = True, dtype: dtype_ = float16, cache_enabled: bool = True) -> None:
        warn_user(
            "`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` "
            "instead.",
            FutureWarning,
        )
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def _cast(value: Any, dtype: dtype_) -> Any:
    """`torch.amp.autocast_mode._cast(value, "cuda", dtype)`; deprecated."""
    warn_user(
        "`torch.cuda.amp.autocast_mode._cast(value, dtype)` is deprecated. Please use "
        "`torch.amp.autocast_mode._cast(value, 'cuda', dtype)` instead.",
        FutureWarning,
    )
    return for_all_devices._cast(value, "cuda", dtype)


def custom_fwd(fwd: Any = None, *, cast_inputs: dtype_ | None = None) -> Any:
    """`torch.amp.custom_fwd(..., device_type="cuda")`; deprecated."""
    warn_user(
        "`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use `torch.amp.custom_fwd(args..., "
        "device_type='cuda')` instead.",
        FutureWarning,
    )
    return for_all_devices.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """`torch.amp.custom_bwd(..., device_type="cuda")`; deprecated."""
    warn_user(
        "`torch.cuda.amp.custom_bwd(args...)` is deprecated. Please use `torch.amp.custom_bwd(args..., "
        "device_type='cuda')` instead.",
        FutureWarning,
    )
    return for_all_devices.custom_bwd(bwd, device_type="cuda")
