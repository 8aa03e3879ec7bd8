"""What was the scaler of gradients for the CPU alone?

Mirrors: torch/cpu/amp/grad_scaler.py
"""

from __future__ import annotations

from glasstorch.amp.grad_scaler import GradScaler as ForAllDevices
from glasstorch.core.user_line import warn_user

__all__ = ["GradScaler"]


class GradScaler(ForAllDevices):
    """`torch.amp.GradScaler("cpu", ...)`; deprecated."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_user(
            "`torch.cpu.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cpu', args...)` "
            "instead.",
            FutureWarning,
        )
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
