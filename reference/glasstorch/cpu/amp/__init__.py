"""Which names of torch.amp had forms for the CPU alone?

Reading order: `autocast_mode`, `grad_scaler`.

Mirrors: torch/cpu/amp/__init__.py
"""

from __future__ import annotations

from glasstorch.cpu.amp.autocast_mode import autocast as autocast
from glasstorch.cpu.amp.grad_scaler import GradScaler as GradScaler
