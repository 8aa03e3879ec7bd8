"""How does a program train in mixed precision?

Reading order: `settings` (on or off, and the dtype), `casts` (of one argument), `policies` (kernels under autocast's
key), `kernels` (which operators have one), `state` (functions that read and set it), `autocast_mode` (the block),
`grad_scaler`.

Mirrors: torch/amp/__init__.py, aten/src/ATen/autocast_mode.h
"""

from __future__ import annotations

from glasstorch.amp import autocast_mode as autocast_mode
from glasstorch.amp import grad_scaler as grad_scaler
from glasstorch.amp.autocast_mode import _enter_autocast as _enter_autocast
from glasstorch.amp.autocast_mode import _exit_autocast as _exit_autocast
from glasstorch.amp.autocast_mode import autocast as autocast
from glasstorch.amp.autocast_mode import custom_bwd as custom_bwd
from glasstorch.amp.autocast_mode import custom_fwd as custom_fwd
from glasstorch.amp.autocast_mode import is_autocast_available as is_autocast_available
from glasstorch.amp.grad_scaler import GradScaler as GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
