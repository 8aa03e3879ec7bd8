"""Which names of torch.amp had forms for CUDA alone?

Reading order: `common`, `autocast_mode`, `grad_scaler`.

Mirrors: torch/cuda/amp/__init__.py
"""

from __future__ import annotations

from glasstorch.cuda.amp.autocast_mode import autocast as autocast
from glasstorch.cuda.amp.autocast_mode import custom_bwd as custom_bwd
from glasstorch.cuda.amp.autocast_mode import custom_fwd as custom_fwd
from glasstorch.cuda.amp.common import amp_definitely_not_available as amp_definitely_not_available
from glasstorch.cuda.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]
